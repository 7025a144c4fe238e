// SPDX-License-Identifier: Apache-2.0
// Elements made by hand. Texts become text nodes and nothing else: what a file says is never read as markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element. `props`: attributes; `on`: listeners by event; false, null and undefined leave an attribute out. */
export function el(tag, props = {}, ...children) {
  return filled(document.createElement(tag), props, children);
}

/** The same in SVG. */
export function svg(tag, props = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

function filled(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

/** Put these children in place of what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** Text of a stored document or of the asker: in its own direction, whatever stands around it. */
export function said(text, tag = "span", props = {}) {
  return el(tag, { dir: "auto", ...props }, text);
}

/** Tell those who listen rather than look. */
export function announce(text) {
  const status = document.getElementById("status");
  status.textContent = "";
  // A new text in an empty region is read also when it is the same as before.
  requestAnimationFrame(() => { status.textContent = text; });
}

/** A table whose wide content scrolls inside its own frame. */
export function table(caption, heads, rows, numeric = new Set()) {
  const kind = (column) => (numeric.has(column) ? "number" : null);
  return el("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {},
      el("caption", { class: "visually-hidden" }, caption),
      el("thead", {}, el("tr", {}, heads.map((head, at) => el("th", { scope: "col", class: kind(at) }, head)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, at) => (
        at === 0 ? el("th", { scope: "row" }, cell) : el("td", { class: kind(at) }, cell))))))));
}
