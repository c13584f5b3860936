// Building elements. Names and values from the server only ever become text nodes and attribute values.

/** Create an element with attributes and children; strings become text. */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** Create a button that calls `act` when it is pressed. */
export function button(label, act, attributes = {}) {
  const node = element("button", { type: "button", ...attributes }, label);
  node.addEventListener("click", act);
  return node;
}

/** Create a table with a caption, column headers and rows of cells; the first cell of a row is its header. */
export function table(caption, headers, rows, numeric = []) {
  const align = (at) => (numeric.includes(at) ? "n" : null);
  return element(
    "table",
    {},
    element("caption", {}, caption),
    element(
      "thead",
      {},
      element("tr", {}, ...headers.map((name, at) => element("th", { scope: "col", class: align(at) }, name))),
    ),
    element(
      "tbody",
      {},
      ...rows.map((cells) =>
        element(
          "tr",
          {},
          ...cells.map((cell, at) =>
            at === 0
              ? element("th", { scope: "row", dir: "auto", class: align(at) }, cell)
              : element("td", { dir: "auto", class: align(at) }, cell),
          ),
        ),
      ),
    ),
  );
}

/** Wrap wide content in a box that scrolls by itself, also with the keyboard. */
export function scrollBox(label, content) {
  const box = element("div", { class: "box", role: "group", "aria-label": label }, content);
  const update = () => box.toggleAttribute("tabindex", false)
    || (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) && (box.tabIndex = 0);
  const observer = new ResizeObserver(update);
  // The content may become wider while the box stays as it is.
  observer.observe(box);
  observer.observe(content);
  return box;
}

let counter = 0;

/** Return an id that no other element of the page has. */
export function uniqueId(prefix) {
  counter += 1;
  return `${prefix}-${counter}`;
}

let pending = null;

/** Tell screen readers a sentence, once nothing newer has been told for a moment. */
export function announce(sentence) {
  clearTimeout(pending);
  pending = setTimeout(() => {
    document.getElementById("live").textContent = sentence;
  }, 500);
}
