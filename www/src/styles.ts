import { nothing } from "lit";
import { Directive, PartType, directive, type ElementPart, type PartInfo } from "lit/directive.js";

/**
 * Styles of an element that come from data: `<div ${styles({ height: "12px", "--share": "0.4" })}>`. lit's own `styleMap` writes
 * a `style` attribute when it draws first, which the page's content security policy forbids; this sets properties, which it allows.
 */
class Styles extends Directive {
  private set = new Map<string, string>();

  constructor(part: PartInfo) {
    super(part);
    if (part.type !== PartType.ELEMENT) throw new Error("`styles` stands in a tag, not in an attribute");
  }

  render(_properties: Record<string, string | number | undefined>) {
    return nothing;
  }

  override update(part: ElementPart, [properties]: Parameters<this["render"]>) {
    const { style } = part.element as HTMLElement;
    for (const name of this.set.keys()) {
      if (properties[name] !== undefined) continue;
      style.removeProperty(name);
      this.set.delete(name);
    }
    for (const [name, value] of Object.entries(properties)) {
      if (value === undefined || this.set.get(name) === String(value)) continue;
      style.setProperty(name, String(value));
      this.set.set(name, String(value));
    }
    return nothing;
  }
}

/** Property names are as in CSS (`grid-template-columns`, `--width`); those that are undefined are taken away. */
export const styles = directive(Styles);
