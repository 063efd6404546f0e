/** Registers an element. A page that loads the viewer twice keeps the first one: a name can be given only once. */
export const element =
  (name: string) =>
  <T extends CustomElementConstructor>(constructor: T): void => {
    if (!customElements.get(name)) customElements.define(name, constructor);
  };
