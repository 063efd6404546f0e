//! Which sample of which training step a span is of, as verl marks it.

use super::super::Format;
use super::{Text, text, whole};
use crate::span::Trajectory;
use crate::view::{Kind, NodeId, Place, Tree, View};

/// The names of a trajectory's members, in both spellings.
const NAMES: [[&str; 2]; 5] = [
    ["step", "step"],
    ["sample_index", "sampleIndex"],
    ["rollout_n", "rolloutN"],
    ["validate", "validate"],
    ["experiment_name", "experimentName"],
];

/// What stands before such a name in an attribute of which MLflow makes a tag.
const TAG: &str = "mlflow.traceTag.";

/// Where the members stand: from the span, and from what holds it.
const IN_SPAN: [&str; 5] = ["/metadata", "/extra_info", "/tags", "/trace_metadata", "/request_metadata"];
const AROUND: &str = "/attributes";

pub(super) fn read(tree: &mut dyn Tree, view: &View, format: Format, trajectory: &mut Trajectory) {
    let span = Place { node: view.node, path: String::new() };
    if let Format::Auto | Format::Record = format {
        of_members(tree, span.node, trajectory);
    }
    for steps in IN_SPAN {
        if let Some(place) = span.find(tree, steps) {
            of_members(tree, place.node, trajectory);
        }
    }
    for (name, place) in &view.places {
        if *name == "attributes" {
            of_members(tree, place.node, trajectory);
        }
    }
    let around = view.around.as_ref().unwrap_or(&span);
    if let Some(place) = around.find(tree, AROUND) {
        of_members(tree, place.node, trajectory);
    }
    // Trackio has the step of each trace, beside it or in the entry around it.
    if format == Format::Trackio
        && let (None, Some(step)) = (trajectory.step, around.find(tree, "/step"))
    {
        trajectory.step = whole(text(tree, step.node, Text));
    }
}

/// Takes what one trajectory says and the other does not.
pub(crate) fn fill(trajectory: &mut Trajectory, other: &Trajectory) {
    for (own, others) in [
        (&mut trajectory.step, other.step),
        (&mut trajectory.sample_index, other.sample_index),
        (&mut trajectory.rollout_n, other.rollout_n),
    ] {
        *own = own.or(others);
    }
    trajectory.validate = trajectory.validate.or(other.validate);
    if trajectory.experiment_name.is_none() {
        trajectory.experiment_name.clone_from(&other.experiment_name);
    }
}

/// Reads the members of an object, or of a list of pairs of `key` and `value`, as MLflow's older server has it.
fn of_members(tree: &mut dyn Tree, object: NodeId, trajectory: &mut Trajectory) {
    let mut read = Trajectory::default();
    let mut texts: [Option<String>; 5] = Default::default();
    match tree.kind(object) {
        Kind::Object => {
            for (names, found) in NAMES.iter().zip(&mut texts) {
                for name in names {
                    for prefix in ["", TAG] {
                        if found.is_none()
                            && let Some(node) = tree.member(object, &[prefix, name].concat())
                        {
                            *found = scalar(tree, node);
                        }
                    }
                }
            }
        }
        Kind::Array => {
            let list = Place { node: object, path: String::new() };
            for pair in list.objects(tree) {
                let (Some(key), Some(value)) = (pair.find(tree, "/key"), pair.find(tree, "/value")) else { continue };
                let key = text(tree, key.node, Text).unwrap_or_default();
                for (names, found) in NAMES.iter().zip(&mut texts) {
                    if names.contains(&key.as_str()) {
                        *found = scalar(tree, value.node);
                    }
                }
            }
        }
        _ => return,
    }
    let [step, sample_index, rollout_n, validate, experiment_name] = texts;
    for (text, number) in
        [(step, &mut read.step), (sample_index, &mut read.sample_index), (rollout_n, &mut read.rollout_n)]
    {
        *number = whole(text);
    }
    read.validate = validate.and_then(|text| flag(&text));
    read.experiment_name = experiment_name;
    fill(trajectory, &read);
}

/// The text of a value; of a string that holds a JSON string what is inside, as among the attributes of MLflow's files.
fn scalar(tree: &mut dyn Tree, node: NodeId) -> Option<String> {
    let outer = text(tree, node, Text)?;
    if outer.starts_with('"')
        && let Some(inner) = tree.open_json(node)
    {
        return text(tree, inner, Text);
    }
    Some(outer)
}

fn flag(text: &str) -> Option<bool> {
    for (word, flag) in [("true", true), ("1", true), ("false", false), ("0", false)] {
        if text.eq_ignore_ascii_case(word) {
            return Some(flag);
        }
    }
    None
}
