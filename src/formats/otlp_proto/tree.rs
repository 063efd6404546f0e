//! A request as a tree of values with the names of OTLP/JSON, and the edits of its pairs.

use std::borrow::Cow;

use super::super::Document;
use super::super::span::{MAX_LISTS, role, shown};
use super::wire::{BYTES, FIXED64, Field, VARINT, bytes_into, next, numbers, varint};
use super::{ATTRIBUTES, BOOL, DOUBLE, FACTS, INSIDE, INT, ITSELF, JSON, KEY_VALUES, LIST, Message, Node, OtlpProto};
use super::{RESOURCE_SPANS, STRING, VALUES};
use crate::base64::hex_into;
use crate::json::{decimal_into, leaving, lossy, quote_into};
use crate::view::{KeySet, Kind, MARK, Names, NodeId, Tree, Write, key_hash};

impl OtlpProto<'_> {
    /// The part of a message that has a name.
    fn named(&mut self, outer: NodeId, name: &str) -> Option<NodeId> {
        let message = self.message(outer);
        let inner = if message == Message::Request {
            (name == RESOURCE_SPANS.1).then_some(Message::ResourceSpans)?
        } else {
            let mut row = INSIDE.iter();
            row.find(|(known, _, _, called)| *known == message && *called == name && !name.is_empty())?.2
        };
        let first = self.of_kind(outer, inner).first().copied()?;
        match inner {
            Message::Resource => Some(first),
            Message::KeyValue => shown(ATTRIBUTES, outer),
            _ => shown(LIST, outer),
        }
    }

    /// The value of a pair without one.
    fn nothing(&mut self, pair: NodeId) -> NodeId {
        let end = self.nodes[pair as usize].end;
        let none =
            Node { message: Message::Value, parent: pair, at: end, start: end, end, children: None, opened: None };
        self.nodes.push(none);
        self.nodes.len() as NodeId - 1
    }

    /// The last field of a message that is a fact of this name.
    fn fact(&mut self, outer: NodeId, name: &str) -> Option<NodeId> {
        let message = self.message(outer);
        let &(_, number, fact, _) = FACTS.iter().find(|(known, _, _, called)| *known == message && *called == name)?;
        let wire = match fact {
            Message::Fixed => FIXED64,
            Message::Varint => VARINT,
            _ => BYTES,
        };
        let (mut at, end) = self.range(outer);
        let mut found = None;
        while let Some(field) = next(self.body, &mut at, end) {
            if field.number == number && field.wire == wire {
                found = Some(field);
            }
        }
        let field = found?;
        let (at, start, end) = (field.at as u32, field.start as u32, field.end as u32);
        self.nodes.push(Node { message: fact, parent: outer, at, start, end, children: None, opened: None });
        shown(ITSELF, self.nodes.len() as NodeId - 1)
    }

    /// The JSON text of a fact.
    fn fact_into(&self, fact: NodeId, out: &mut Vec<u8>) {
        let (start, end) = self.range(fact);
        let content = &self.body[start..end];
        match self.message(fact) {
            Message::Id => {
                let mut digits = Vec::with_capacity(2 * content.len());
                hex_into(content, &mut digits);
                quote_into(&digits, out);
            }
            Message::Text => quote_into(content, out),
            Message::Fixed => decimal_into(u64::from_le_bytes(content.try_into().unwrap_or_default()), out),
            Message::Varint => decimal_into(varint(self.body, start).map_or(0, |(value, _)| value), out),
            _ => out.extend_from_slice(b"{}"),
        }
    }

    /// The member of an object that is made of pairs.
    fn paired(&mut self, object: NodeId, key: &str) -> Option<NodeId> {
        let owner = self.owner(object)?;
        let pair = self.pair(owner, key)?;
        let value = self.value(pair)?;
        if key.starts_with(MARK) && role(object).0 == ATTRIBUTES && self.is_reread(owner) {
            // A text of ours in a JSON string.
            return self.open_json(value).or(Some(value));
        }
        Some(value)
    }

    /// What a node that is shown as a list holds.
    fn listed(&mut self, list: NodeId) -> Vec<NodeId> {
        match role(list) {
            (LIST, outer) => {
                let mut elements = Vec::new();
                for child in self.children(outer) {
                    if !matches!(self.message(child), Message::Resource | Message::KeyValue) {
                        elements.push(child);
                    }
                }
                elements
            }
            (ITSELF, value) if self.kind(value) == Kind::Array => match self.container(value) {
                Some(values) => self.children(values).collect(),
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn take_pair(&mut self, owner: NodeId, pair: NodeId) {
        let node = self.nodes[pair as usize];
        self.change(owner, node.at as usize..node.end as usize, Vec::new());
    }

    /// The field that holds the values of a list.
    fn values(&self, value: NodeId) -> Option<Field> {
        self.content(value).filter(|field| field.number == VALUES)
    }
}

impl Tree for OtlpProto<'_> {
    fn kind(&self, node: NodeId) -> Kind {
        match role(node) {
            (JSON, node) => self.json.kind(node),
            (LIST, _) => Kind::Array,
            (ITSELF, value) if self.message(value) == Message::Value => match self.content(value) {
                Some(field) => match field.number {
                    BOOL => Kind::Bool,
                    INT | DOUBLE => Kind::Number,
                    VALUES => Kind::Array,
                    KEY_VALUES => Kind::Object,
                    _ => Kind::String,
                },
                None => Kind::Null,
            },
            (ITSELF, other) => match self.message(other) {
                Message::Id | Message::Text => Kind::String,
                Message::Fixed | Message::Varint => Kind::Number,
                _ => Kind::Object,
            },
            _ => Kind::Object,
        }
    }

    fn member(&mut self, object: NodeId, key: &str) -> Option<NodeId> {
        match role(object) {
            (JSON, object) => shown(JSON, self.json.member(object, key)?),
            (ITSELF, outer) if self.message(outer) != Message::Value => {
                self.named(outer, key).or_else(|| self.fact(outer, key))
            }
            _ => self.paired(object, key),
        }
    }

    fn keys(&self, object: NodeId, tell: &mut dyn FnMut(&[u8])) {
        let (message, (mut at, end)) = match role(object) {
            (JSON, object) => return self.json.keys(object, tell),
            (ITSELF, value) if self.message(value) == Message::Value => match self.content(value) {
                Some(field) if field.number == KEY_VALUES => (Message::KeyValues, (field.start, field.end)),
                _ => return,
            },
            (_, owner) => (self.message(owner), self.range(owner)),
        };
        while let Some(field) = next(self.body, &mut at, end) {
            if super::inside(message, &field) == Some(Message::KeyValue) {
                tell(self.key_between((field.start, field.end)));
            }
        }
    }

    fn keys_inside(&self, node: NodeId, tell: &mut dyn FnMut(u32)) -> bool {
        let (role, node) = role(node);
        role == JSON && self.json.keys_inside(node, tell)
    }

    fn may_have(&self, node: NodeId, keys: &KeySet, in_strings: bool) -> bool {
        let (role, node) = role(node);
        let mut may_have = role == JSON;
        if !may_have {
            self.walk(self.message(node), self.range(node), &mut |message, bytes| {
                may_have |= match message {
                    Message::KeyValue => keys.has(key_hash(bytes)),
                    Message::Value => in_strings && keys.may_be_in(bytes),
                    _ => false,
                };
            });
        }
        may_have
    }

    fn element(&mut self, array: NodeId, index: usize) -> Option<NodeId> {
        match role(array) {
            (JSON, array) => shown(JSON, self.json.element(array, index)?),
            _ => self.listed(array).get(index).copied(),
        }
    }

    fn elements(&mut self, array: NodeId) -> Vec<NodeId> {
        let (JSON, inside) = role(array) else { return self.listed(array) };
        let mut elements = Vec::new();
        for node in self.json.elements(inside) {
            elements.extend(shown(JSON, node));
        }
        elements
    }

    fn members(&mut self, object: NodeId) -> Vec<(String, NodeId)> {
        let mut members = Vec::new();
        if let (JSON, object) = role(object) {
            for (key, node) in self.json.members(object) {
                members.extend(shown(JSON, node).map(|node| (key, node)));
            }
            return members;
        }
        let Some(owner) = self.owner(object) else { return members };
        let mut known = Names::default();
        // From the last on, so that of two with one key the last counts.
        for pair in self.of_kind(owner, Message::KeyValue).into_iter().rev() {
            let key = lossy(self.key(pair).to_vec());
            if known.insert(&key, pair).is_none() {
                let value = self.value(pair).unwrap_or_else(|| self.nothing(pair));
                members.push((key, value));
            }
        }
        members.reverse();
        members
    }

    fn is_plain(&self, node: NodeId) -> bool {
        role(node).0 == JSON
    }

    fn double(&self, node: NodeId) -> Option<f64> {
        let (ITSELF, value) = role(node) else { return None };
        if self.message(value) != Message::Value {
            return None;
        }
        let field = self.content(value).filter(|field| field.number == DOUBLE)?;
        Some(f64::from_le_bytes(self.body[field.start..field.end].try_into().ok()?))
    }

    fn len(&mut self, array: NodeId) -> usize {
        match role(array) {
            (JSON, array) => self.json.len(array),
            (ITSELF, value) if self.message(value) == Message::Value => {
                let Some(list) = self.values(value) else { return 0 };
                let (mut at, mut count) = (list.start, 0);
                loop {
                    at = numbers(self.body, at, list.end, &mut |_| count += 1);
                    let Some(field) = next(self.body, &mut at, list.end) else { return count };
                    count += usize::from(field.number == 1 && field.wire == BYTES);
                }
            }
            _ => self.listed(array).len(),
        }
    }

    fn open_json(&mut self, string: NodeId) -> Option<NodeId> {
        let value = match role(string) {
            (JSON, string) => return shown(JSON, self.json.open_json(string)?),
            (ITSELF, value) if self.message(value) == Message::Value => value,
            _ => return None,
        };
        let opened = self.nodes[value as usize].opened.unwrap_or_else(|| {
            let field = self.content(value).filter(|field| field.number == STRING);
            let added = field.and_then(|field| self.json.add(self.body[field.start..field.end].to_vec()));
            let root = added.and_then(|(document, root)| {
                self.holders.push((document, value));
                shown(JSON, root)
            });
            root.unwrap_or(value)
        });
        self.nodes[value as usize].opened = Some(opened);
        (opened != value).then_some(opened)
    }

    fn json(&mut self, node: NodeId) -> Cow<'_, [u8]> {
        match role(node) {
            (JSON, node) => self.json.json(node),
            (ITSELF, value) if self.message(value) == Message::Value => {
                let mut json = Vec::new();
                self.json_into(self.range(value), MAX_LISTS, &mut json);
                Cow::Owned(json)
            }
            (ITSELF, other) => {
                let mut json = Vec::new();
                self.fact_into(other, &mut json);
                Cow::Owned(json)
            }
            (LIST, _) => Cow::Borrowed(b"[]"),
            _ => Cow::Borrowed(b"{}"),
        }
    }

    fn mark(&self, object: NodeId) -> &'static str {
        if role(object).0 == ATTRIBUTES { MARK } else { "" }
    }

    fn may_drop(&self) -> bool {
        true
    }

    fn token_ids(&mut self, array: NodeId) -> Option<Vec<u32>> {
        let (ITSELF, value) = role(array) else { return None };
        if self.message(value) != Message::Value {
            return None;
        }
        let list = self.values(value)?;
        // A value of an id below 128 takes four bytes.
        let mut ids = Vec::with_capacity((list.end - list.start) / 4);
        let mut at = list.start;
        loop {
            let mut are_ids = true;
            at = numbers(self.body, at, list.end, &mut |number| match number
                .and_then(|number| u32::try_from(number).ok())
            {
                Some(id) => ids.push(id),
                None => are_ids = false,
            });
            if !are_ids {
                return None;
            }
            let Some(mut field) = next(self.body, &mut at, list.end) else { break };
            if field.number != 1 || field.wire != BYTES {
                continue;
            }
            match next(self.body, &mut field.start, field.end) {
                Some(Field { number: INT, wire: VARINT, value, end, .. }) if end == field.end => {
                    ids.push(u32::try_from(value).ok()?);
                }
                _ => return None,
            }
        }
        Some(ids)
    }
}

impl Document for OtlpProto<'_> {
    fn write(&mut self, write: &Write) {
        if let (JSON, object) = role(write.object) {
            return self.json.write(object, write, &mut self.edits);
        }
        let Some(owner) = self.owner(write.object) else { return };
        if write.drops() {
            for pair in self.of_kind(owner, Message::KeyValue) {
                if self.key(pair) == write.key.as_bytes() {
                    self.take_pair(owner, pair);
                }
            }
            return;
        }
        let is_attributes = role(write.object).0 == ATTRIBUTES;
        let is_reread = is_attributes && self.is_reread(owner);
        if let Some(pair) = self.pair(owner, &write.key) {
            let mut bytes = Vec::new();
            bytes_into(2, &Self::value_of(&write.text, is_reread), &mut bytes);
            let end = self.nodes[pair as usize].end as usize;
            let old = self.value(pair).map(|value| self.nodes[value as usize]);
            let range = old.map_or(end..end, |old| old.at as usize..old.end as usize);
            return self.change(pair, range, bytes);
        }
        let before = write.before.as_ref().and_then(|key| self.pair(owner, key));
        let before = before.or_else(|| self.of_kind(owner, Message::KeyValue).first().copied());
        let at = match before {
            Some(pair) => self.nodes[pair as usize].at,
            None => self.nodes[owner as usize].start,
        } as usize;
        let message = self.message(owner);
        let row = INSIDE.iter().find(|(outer, _, inner, _)| *outer == message && *inner == Message::KeyValue);
        let number = row.map_or(1, |(_, number, ..)| *number);
        let mut bytes = Vec::new();
        bytes_into(number, &Self::pair_of(&write.key, &write.text, is_reread), &mut bytes);
        self.change(owner, at..at, bytes);
    }

    fn take_out(&mut self, object: NodeId, members: Vec<(String, Option<String>)>) {
        if let (JSON, object) = role(object) {
            return self.json.take_out(object, members, &mut self.edits);
        }
        let Some(owner) = self.owner(object) else { return };
        let pairs = self.of_kind(owner, Message::KeyValue);
        let goes =
            leaving(pairs.len(), members, &|key| pairs.iter().rposition(|&pair| self.key(pair) == key.as_bytes()));
        for (i, pair) in pairs.into_iter().enumerate() {
            if goes[i] {
                self.take_pair(owner, pair);
            }
        }
    }
}
