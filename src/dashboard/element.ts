/** Makes elements, and brings what is on the page to what it should be without replacing what is the same. */

export type Content = Node | string | null;

type Attributes = Readonly<Record<string, string | null>>;

/** The styles that depend on numbers; a style attribute would be refused by the page's own policy. */
type Styles = Readonly<Record<string, string>>;

/** An element with these attributes, but those that are null, and this content. */
export function element(name: string, attributes: Attributes = {}, ...content: readonly Content[]): HTMLElement {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
  for (const part of content) if (part !== null) made.append(part);
  return made;
}

export function styled<T extends HTMLElement>(target: T, styles: Styles): T {
  for (const [property, value] of Object.entries(styles)) target.style.setProperty(property, value);
  return target;
}

/** Where a path of the service is, for commands that a reader copies; also behind a proxy that serves the page under a path. */
export function urlOf(path: string): string {
  return new URL(path, document.baseURI).href;
}

/** The element of the page with this id, which is there. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`Cannot find element ${JSON.stringify(id)} in the page`);
  return found as T;
}

/** Makes `parent` hold `content`. What is there already stays, with its focus and whatever else a reader did to it. */
export function show(parent: Element, ...content: readonly Content[]): void {
  patchChildren(
    parent,
    content.filter((part) => part !== null).map((part) => (typeof part === "string" ? document.createTextNode(part) : part)),
  );
}

/** Elements with a `data-key` are told apart by it, all others by their place. */
function patchChildren(parent: Element, wanted: readonly Node[]): void {
  const keyed = new Map<string, Node>();
  for (const child of parent.childNodes) {
    const key = keyOf(child);
    if (key !== null) keyed.set(key, child);
  }
  let place = parent.firstChild;
  for (const next of wanted) {
    const key = keyOf(next);
    const present: Node | null = key === null ? place : (keyed.get(key) ?? null);
    if (present !== null && isLike(present, next)) {
      if (present === place) place = place.nextSibling;
      else parent.insertBefore(present, place);
      patch(present, next);
    } else {
      parent.insertBefore(next, place);
    }
  }
  while (place !== null) {
    const rest: ChildNode | null = place.nextSibling;
    place.remove();
    place = rest;
  }
}

function patch(present: Node, next: Node): void {
  if (present instanceof HTMLElement && next instanceof HTMLElement) {
    patchAttributes(present, next);
    patchChildren(present, [...next.childNodes]);
  } else if (present.nodeValue !== next.nodeValue) {
    present.nodeValue = next.nodeValue;
  }
}

/** What is open stays open: that is the reader's own. */
function patchAttributes(present: HTMLElement, next: HTMLElement): void {
  for (const { name } of [...present.attributes]) {
    if (name !== "open" && name !== "style" && !next.hasAttribute(name)) present.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (name !== "style" && present.getAttribute(name) !== value) present.setAttribute(name, value);
  }
  if (present.style.cssText !== next.style.cssText) present.style.cssText = next.style.cssText;
}

function isLike(present: Node, next: Node): boolean {
  return present.nodeName === next.nodeName && keyOf(present) === keyOf(next);
}

function keyOf(node: Node): string | null {
  return node instanceof HTMLElement ? (node.dataset.key ?? null) : null;
}
