// The theme that the reader chose: set before the page is drawn.
"use strict";

const theme = {
  get() {
    try { return localStorage.getItem("holdfast-theme") || ""; } catch { return ""; }
  },
  set(name) {
    document.documentElement.dataset.theme = name;
    try { localStorage.setItem("holdfast-theme", name); } catch { /* for this page alone */ }
  },
};
document.documentElement.dataset.theme = theme.get();
