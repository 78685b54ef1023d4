document.querySelectorAll("table.sortable th").forEach((head) => {
  head.tabIndex = 0;
  head.setAttribute("role", "button");
  const sort = () => {
    const table = head.closest("table"), body = table.tBodies[0], column = head.cellIndex;
    const down = head.getAttribute("aria-sort") === "ascending";
    const key = (row) => {
      const cell = row.cells[column], value = cell.dataset.value ?? cell.textContent.trim();
      return value === "" || Number.isNaN(Number(value)) ? value : Number(value);
    };
    const order = (a, b) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1);
    const rows = [...body.rows].sort((a, b) => order(key(a), key(b)) * (down ? -1 : 1));
    table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows);
  };
  head.addEventListener("click", sort);
  head.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); }
  });
});
