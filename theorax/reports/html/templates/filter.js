(function () {
  "use strict";
  var form = document.getElementById("theorem-filters");
  if (!form) return;
  var rows = Array.prototype.slice.call(document.querySelectorAll("tr[data-theorem]"));
  var nodes = Array.prototype.slice.call(document.querySelectorAll("#what-rests-on-what a.node"));
  var told = form.querySelector("output");
  var sources = {};
  Array.prototype.forEach.call(form.elements.paper.options, function (paper) { sources[paper.value] = paper.dataset.words; });
  form.hidden = false;
  function checked() {
    return Array.prototype.slice.call(form.querySelectorAll("input[name=status]:checked")).map(function (box) { return box.value; });
  }
  function apply() {
    var words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    var statuses = checked(), paper = form.elements.paper.value, kind = form.elements.kind.value;
    var shown = {}, count = 0;
    rows.forEach(function (row) {
      var data = row.dataset, article = document.getElementById(data.theorem);
      var text = [row.textContent.toLowerCase(), data.paper.toLowerCase(), sources[data.paper]].join(" ");
      var fits = statuses.indexOf(data.status) >= 0 && (!paper || data.paper === paper) &&
        (!kind || data.kinds.split(" ").indexOf(kind) >= 0) &&
        words.every(function (word) { return text.indexOf(word) >= 0; });
      row.hidden = !fits;
      if (article) article.hidden = !fits;
      count += fits;
      shown[data.theorem] = fits;
    });
    nodes.forEach(function (node) {
      // Rows that are no theorem of the table, such as the claims of one, are filtered by nothing.
      node.classList.toggle("faded", shown[node.getAttribute("href").replace(/^#|\.html$/g, "")] === false);
    });
    told.textContent = count + " of " + form.dataset.count + " theorems shown";
  }
  function reveal() {
    var id = location.hash.slice(1), target = id && document.getElementById(id);
    if (!target) return;
    if (target.closest("[hidden]")) { form.reset(); apply(); }
    for (var part = target; part; part = part.parentElement) { if (part.tagName === "DETAILS") { part.open = true; } }
    target.scrollIntoView();
  }
  document.getElementById("unfold-all").addEventListener("click", function () {
    document.querySelectorAll("details").forEach(function (part) { part.open = true; });
  });
  form.addEventListener("input", apply);
  form.addEventListener("reset", function () { setTimeout(apply, 0); });
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  document.addEventListener("keydown", function (event) {
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      form.elements.words.focus();
    }
  });
  window.addEventListener("hashchange", reveal);
  apply();
  reveal();
})();
