// Keeps what is shown up to date without disturbing anybody, says when the service is away, and keeps the keys in
// their place when what they were on is replaced. Loaded after app.js.
"use strict";

const FIELDS = "input:not([type=checkbox]):not([type=radio]):not([type=hidden]), textarea, select";

function inUse(element) {
  if (element.matches("[data-editing]") || one("[data-editing], details[open], dialog[open]", element)) return true;
  if (element.contains(document.activeElement) && document.activeElement !== document.body) return true;
  return all(FIELDS, element).some(touched);
}

// A slider stands at the nearest of its steps, which need not be the value that it was given.
function touched(field) {
  if (field.tagName === "SELECT") return false;
  if (field.type === "range") return Math.abs(field.value - field.defaultValue) >= Number(field.step);
  return field.value !== field.defaultValue;
}

function replaced(old, made) {
  for (const box of all("input[type=checkbox]:checked", old)) {
    const same = box.value && one(`input[type=checkbox][value="${CSS.escape(box.value)}"]`, made);
    if (same) same.checked = true;
  }
  old.replaceWith(made);
  htmx.process(made);
}

// What is gone goes, though a link in it has the keys; a field that somebody typed into stays.
function beingTyped(element) {
  if (element.matches("[data-editing]") || one("[data-editing]", element)) return true;
  const field = document.activeElement.closest(FIELDS);
  if (field && element.contains(field)) return true;
  return all(FIELDS, element).some(touched);
}

// The children of a list, told apart by their ids: what changed is replaced, what is new comes in, what is gone
// goes; what somebody works on stays as it is. Answers whether all could be done.
function reconciled(list, fresh) {
  let whole = true;
  let added = 0;
  const wanted = new Set([...fresh.children].map((child) => child.id));
  for (const child of [...list.children]) {
    if (wanted.has(child.id)) continue;
    if (beingTyped(child)) whole = false;
    else child.remove();
  }
  let before = list.firstElementChild;
  for (const made of [...fresh.children]) {
    const known = document.getElementById(made.id);
    if (!known || known.parentElement !== list) {
      made.classList.add("fresh");
      list.insertBefore(made, before);
      htmx.process(made);
      added += 1;
      continue;
    }
    if (known === before) before = known.nextElementSibling;
    else list.insertBefore(known, before);
    if (alike(known, made)) continue;
    if (inUse(known)) whole = false;
    else replaced(known, made);
  }
  if (added) one("#heard").textContent = added === 1 ? "1 new row" : `${added} new rows`;
  return whole;
}

// Times move on by themselves, and a tick is the reader's own.
function alike(known, made) {
  const plain = (element) => {
    const copy = element.cloneNode(true);
    copy.classList.remove("fresh", "current", "htmx-added", "htmx-settling");
    for (const time of all("time", copy)) time.textContent = "";
    return copy.outerHTML;
  };
  return plain(known) === plain(made);
}

function refreshed(region, text) {
  const parsed = new DOMParser().parseFromString(text, "text/html");
  const fresh = one("[data-live]", parsed);
  if (!fresh) return;
  let whole = true;
  const lists = all("[data-keyed]", fresh);
  for (const list of lists) {
    const known = document.getElementById(list.id);
    if (known) whole = reconciled(known, list) && whole;
  }
  for (const element of all("[data-part]", parsed)) {
    const known = document.getElementById(element.id);
    if (known && !alike(known, element)) {
      if (inUse(known)) whole = false;
      else replaced(known, document.importNode(element, true));
    }
  }
  if (whole) region.dataset.seen = fresh.dataset.seen;
  if (one("[data-walk]", region) && walking && !one("[data-walk] .current")) walk(walkedTo);
  selected();
  refocused();
}

document.addEventListener("htmx:configRequest", (event) => {
  const region = event.detail.elt;
  if (region.matches("[data-live]")) event.detail.headers["X-Seen"] = region.dataset.seen;
});
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt.matches("[data-live]") && document.hidden) event.preventDefault();
});
document.addEventListener("htmx:beforeSwap", (event) => {
  const region = event.detail.requestConfig.elt;
  if (!region.matches("[data-live]")) return;
  event.detail.shouldSwap = false;
  if (event.detail.xhr.status !== 200) return;
  if (region.matches("[data-reload]")) {
    if (!inUse(one("main")) && !one("dialog[open]")) location.reload();
  }
  else refreshed(region, event.detail.serverResponse);
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) htmx.trigger(document.body, "changed");
});

// ----------------------------------------------------------------------------------------- away and signed out

let unanswered = 0;

function shown(id, whether) {
  const line = document.getElementById(id);
  if (line) line.hidden = !whether;
}

document.addEventListener("htmx:sendError", (event) => {
  if (!event.detail.elt.matches("[data-live]")) {
    one("#said").replaceChildren(one("#lost").content.cloneNode(true));
    return;
  }
  unanswered += 1;
  if (unanswered > 1) shown("away", true); // one may be lost while a service starts anew
});
document.addEventListener("htmx:responseError", (event) => {
  const often = event.detail.elt.matches("[data-live]");
  if (event.detail.xhr.status >= 500 && !often) one("#said").replaceChildren(one("#lost").content.cloneNode(true));
});
document.addEventListener("htmx:beforeOnLoad", (event) => {
  unanswered = 0;
  shown("away", false);
  const out = event.detail.xhr.status === 401;
  shown("out", out);
  if (!out) return;
  event.preventDefault(); // the page stays, with what was typed on it
  one("#out a").href = `/login?next=${encodeURIComponent(location.pathname + location.search)}`;
});

// ------------------------------------------------------------------------------------------ where the keys are

let held = null;
let heldIn = "";

document.addEventListener("focusin", (event) => {
  if (event.target.closest("#ask, #said") || event.target === one("main")) return;
  held = event.target;
  heldIn = held.closest("tr[id], li[id], article[id]")?.id || "";
});

// What had the keys was replaced or is gone: they go on in the same line, else at the content's beginning.
function refocused() {
  if (!held || held.isConnected || document.activeElement !== document.body || (ask && ask.open)) return;
  const line = heldIn && document.getElementById(heldIn);
  const wanted = line && (one("[data-focus-back]", line) || one("a[href], button", line));
  held = null;
  (wanted || one("main")).focus({ preventScroll: true });
}

document.addEventListener("htmx:afterSettle", () => setTimeout(refocused));

// After an action in the list: what popped up for it closes, and a line that was deleted while it was edited goes.
document.addEventListener("htmx:afterRequest", (event) => {
  const { elt, successful, requestConfig } = event.detail;
  if (!successful || requestConfig.verb !== "post") return;
  const pop = elt.closest("details.pop");
  if (pop) {
    for (const field of all("input:not([type=range])", pop)) field.value = field.defaultValue;
    pop.open = false;
    one("summary", pop).focus();
  }
  if (!elt.closest("#ask")) return;
  for (const field of all('input[name="id"]', elt)) {
    const line = document.getElementById(`m-${field.value}`);
    if (line && line.matches("[data-editing]")) line.remove();
  }
});
