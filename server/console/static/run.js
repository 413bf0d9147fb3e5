// The levels of a run's tree in one window: it holds only the rows that can be seen, however many there are. Rows come
// from the page "steps", which writes them as the page without scripts does.
const box = document.querySelector('[data-levels]');
const list = box?.querySelector('ul');
const page = Number(box?.dataset.size), high = 30, margin = 10; // rows of a page; pixels of a row; rows beyond the window
const mostKept = 2000; // rows that are kept while they are not seen
const mostOpen = 50; // levels that the address names

// A level has total rows. Some of them are known, by their number; some are unfolded, and have a level below. Pages that
// it is loading have what stops that.
const level = (below, depth, up, at) => ({below, depth, up, at, total: 0, rows: new Map(), open: new Map(), loading: new Map()});
const top = box && level(box.dataset.below, 0, null, 0);
let active = null; // {level, at}: the row that the keys move from
let chosen = new URL(location.href).searchParams.get('atom');

const length = l => [...l.open.values()].reduce((sum, inside) => sum + length(inside), l.total);

// place returns the level and the number in it of a line of the window.
function place(l, line) {
  let before = 0;
  for (const [at, inside] of [...l.open].sort((a, b) => a[0] - b[0])) {
    if (line <= at + before) break;
    const more = length(inside);
    if (line <= at + before + more) return place(inside, line - at - before - 1);
    before += more;
  }
  return {level: l, at: line - before};
}

// lineOf is the inverse of place.
function lineOf({level: l, at}) {
  let line = at;
  for (const [opened, inside] of l.open) if (opened < at) line += length(inside);
  return l.up ? lineOf({level: l.up, at: l.at}) + 1 + line : line;
}

// take puts rows into a level. Rows that are shown stay the same elements.
function take(l, rows, total) {
  l.total = total;
  for (const at of l.rows.keys()) if (at >= total) l.rows.delete(at);
  for (const row of rows) {
    const at = Number(row.dataset.at), old = l.rows.get(at);
    for (const link of row.querySelectorAll('a[href]')) { // the row is what is chosen, and the tree has the focus
      link.dataset.href = link.getAttribute('href');
      link.removeAttribute('href');
    }
    const inside = l.open.get(at);
    if (inside && inside.below !== row.dataset.key) { // another row came before it
      l.open.delete(at);
      const moved = rows.find(other => other.dataset.key === inside.below);
      if (moved) l.open.set(inside.at = Number(moved.dataset.at), inside);
    }
    if (old && old.dataset.key === row.dataset.key) {
      if (old.innerHTML !== row.innerHTML) old.replaceChildren(...row.childNodes);
      old.toggleAttribute('data-steps', row.hasAttribute('data-steps'));
    } else {
      l.rows.set(at, row);
    }
  }
}

// asked returns the document at an address. The browser parses it, so no text becomes markup here.
const asked = (address, signal) => new Promise((done, failed) => {
  const request = new XMLHttpRequest();
  signal.addEventListener('abort', () => request.abort());
  request.onabort = failed;
  request.onload = () => done(request.status === 200 ? request.response : null);
  request.onerror = failed;
  request.open('GET', address);
  request.responseType = 'document';
  request.send();
});

// load asks for a page of a level. What was asked for before a change may lack it, so fresh asks again after that.
async function load(l, number, fresh) {
  for (let other; (other = l.loading.get(number));) {
    await other.ended;
    if (!fresh) return;
  }
  const stop = new AbortController();
  stop.ended = loadNow(l, number, stop.signal);
  l.loading.set(number, stop);
  await stop.ended;
}

async function loadNow(l, number, signal) {
  try {
    const at = new URLSearchParams({id: box.dataset.run, below: l.below, from: number * page});
    const now = (await asked('steps?' + at, signal))?.querySelector('[data-levels]');
    if (!now) return;
    const first = anchor();
    take(l, [...document.importNode(now, true).querySelectorAll('li[data-key]')], Number(now.dataset.total));
    hold(first);
    paint();
  } catch {
    // the rows are not wanted any more, or the server is away, and the next look tells more
  } finally {
    l.loading.delete(number);
  }
}

// stopLoading stops the loading of pages of a level, and of levels below it, unless they are wanted.
function stopLoading(l, wanted) {
  for (const [number, stop] of l.loading) if (!wanted?.(l, number)) stop.abort();
  for (const inside of l.open.values()) stopLoading(inside, wanted);
}

// anchor is the first row in the window, and hold scrolls to it after rows came before it.
function anchor() {
  const line = Math.floor(box.scrollTop / high), {level: l, at} = place(top, line);
  return {key: l.rows.get(at)?.dataset.key, line, level: l};
}

function hold({key, line, level: l}) {
  if (!key) return;
  for (const [at, row] of l.rows) {
    if (row.dataset.key === key) box.scrollTop += (lineOf({level: l, at}) - line) * high;
  }
}

// shownLines returns the lines that the window shows, with a margin.
function shownLines() {
  const all = length(top), first = Math.floor(box.scrollTop / high);
  return [Math.max(0, first - margin), Math.min(all, first + Math.ceil(box.clientHeight / high) + margin), all];
}

// blank returns a row that is not known yet, the same for each place in the window: so scrolling changes few elements.
const blanks = [];
const blank = n => blanks[n] ??= document.createElement('li');

function paint() {
  const [from, to, all] = shownLines(), shown = [];
  for (let line = from; line < to; line++) {
    const {level: l, at} = place(top, line);
    const row = l.rows.get(at) ?? blank(shown.length);
    const opened = row.hasAttribute('data-steps') ? String(l.open.has(at)) : null;
    const is = active && active.level === l && active.at === at;
    const values = {
      role: 'treeitem', 'aria-level': l.depth + 1, 'aria-setsize': l.total, 'aria-posinset': at + 1, 'aria-expanded': opened,
      'aria-selected': String(row.dataset.key !== undefined && row.dataset.key === chosen), id: is ? 'active-step' : null,
      class: [`d${Math.min(l.depth, 8)}`, is && 'active', row.dataset.key === chosen && row.dataset.key && 'chosen'].filter(Boolean).join(' '),
    };
    for (const [name, value] of Object.entries(values)) {
      if (value === null) row.removeAttribute(name); else if (row.getAttribute(name) !== String(value)) row.setAttribute(name, value);
    }
    if (!row.hasChildNodes()) row.textContent = '…';
    shown.push(row);
  }
  list.style.paddingTop = from * high + 'px';
  list.style.paddingBottom = (all - to) * high + 'px';
  const gone = new Set(list.children);
  shown.forEach((row, i) => {
    gone.delete(row);
    if (list.children[i] !== row) list.insertBefore(row, list.children[i] ?? null);
  });
  gone.forEach(row => row.remove());
  if (list.querySelector('#active-step')) list.setAttribute('aria-activedescendant', 'active-step');
  else list.removeAttribute('aria-activedescendant');
}

// missing asks for the pages of the rows in the window; with all, also for those that are known. It ends with the answers.
function missing(all) {
  const [from, to] = shownLines(), seen = new Map(); // pages of the levels, and whether to ask for them
  for (let line = from; line < to; line++) {
    const {level: l, at} = place(top, line), number = Math.floor(at / page);
    if (!seen.has(l)) seen.set(l, new Map());
    seen.get(l).set(number, seen.get(l).get(number) || all || !l.rows.has(at));
  }
  if (!restoring) stopLoading(top, (l, number) => l.total === 0 || seen.get(l)?.has(number));
  const loads = [];
  for (const [l, numbers] of seen) for (const [number, ask] of numbers) if (ask) loads.push(load(l, number, all));
  return Promise.all(loads);
}

// forget drops rows that are far from the window.
function forget() {
  const seen = new Set(list.children);
  const drop = l => {
    for (const [at, row] of l.rows) if (!seen.has(row)) l.rows.delete(at);
    for (const inside of l.open.values()) drop(inside);
  };
  drop(top);
}

const known = l => [...l.open.values()].reduce((sum, inside) => sum + known(inside), l.rows.size);

let painting = false, settled = 0;
function scrolled() {
  if (!painting) {
    painting = true;
    requestAnimationFrame(() => {
      painting = false;
      paint();
    });
  }
  clearTimeout(settled);
  settled = setTimeout(() => {
    if (known(top) > mostKept) forget();
    missing(false);
    remember();
  }, 80);
}

// move makes a line the active one, and scrolls to it.
function move(line) {
  const all = length(top);
  if (all === 0) return;
  line = Math.max(0, Math.min(all - 1, line));
  active = place(top, line);
  if (line * high < box.scrollTop) box.scrollTop = line * high;
  if ((line + 1) * high > box.scrollTop + box.clientHeight) box.scrollTop = (line + 1) * high - box.clientHeight;
  scrolled();
}

async function unfold({level: l, at}) {
  const row = l.rows.get(at);
  if (!row?.hasAttribute('data-steps') || l.open.has(at)) return;
  const inside = level(row.dataset.key, l.depth + 1, l, at);
  l.open.set(at, inside);
  await load(inside, 0);
  remember();
}

function fold({level: l, at}) {
  const inside = l.open.get(at);
  for (let a = active?.level; a; a = a.up) if (a === inside) active = {level: l, at};
  l.open.delete(at);
  if (inside) stopLoading(inside);
  scrolled();
}

// remember makes the address open what is seen: the levels that are unfolded, and the first line.
let restoring = false;
function remember() {
  if (restoring) return;
  const to = new URL(location.href), opened = [], line = Math.floor(box.scrollTop / high);
  const add = l => {
    for (const [at, inside] of [...l.open].sort((a, b) => a[0] - b[0])) {
      opened.push(at + ':' + inside.below);
      add(inside);
    }
  };
  add(top);
  to.searchParams.delete('open');
  to.searchParams.delete('line');
  for (const one of opened.slice(0, mostOpen)) to.searchParams.append('open', one);
  if (line > 0) to.searchParams.set('line', line);
  try {
    if (to.href !== location.href) history.replaceState(null, '', to);
  } catch {
    // the browser allows no more changes for now
  }
}

// restore unfolds the levels that the address names. Each names its row by its number above, and by its path.
async function restore() {
  const asked = new URL(location.href).searchParams, levels = [top];
  if (!asked.has('open') && !asked.has('line')) return;
  restoring = true;
  for (const one of asked.getAll('open').slice(0, mostOpen)) {
    const at = Number(one.split(':', 1)[0]), below = one.slice(one.indexOf(':') + 1);
    const above = levels.filter(l => below.startsWith(l.below) && at < l.total).sort((a, b) => b.below.length - a.below.length);
    for (const l of above) {
      if (!l.rows.has(at)) await load(l, Math.floor(at / page));
      if (l.rows.get(at)?.dataset.key !== below) continue; // the run has another row there now
      await unfold({level: l, at});
      if (l.open.has(at)) levels.push(l.open.get(at));
      break;
    }
  }
  paint();
  const line = Number(asked.get('line'));
  if (line > 0) box.scrollTop = line * high;
  restoring = false;
  scrolled();
}

// choose shows a row in the panel, at its own address.
function choose({level: l, at}) {
  const row = l.rows.get(at), to = row?.querySelector('a[data-href]')?.dataset.href;
  if (!to) return;
  chosen = row.dataset.key;
  history.replaceState(null, '', to);
  remember();
  dispatchEvent(new Event('ebb-refresh'));
  paint();
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  active ??= place(top, Math.floor(box.scrollTop / high));
  const line = lineOf(active), opened = active.level.open.has(active.at), rows = Math.floor(box.clientHeight / high);
  switch (event.key) {
    case 'j': case 'ArrowDown': move(line + 1); break;
    case 'k': case 'ArrowUp': move(line - 1); break;
    case 'PageDown': move(line + rows); break;
    case 'PageUp': move(line - rows); break;
    case 'Home': move(0); break;
    case 'End': move(Infinity); break;
    case 'ArrowRight': if (opened) move(line + 1); else unfold(active); break;
    case 'ArrowLeft':
      if (opened) fold(active);
      else if (active.level.up) move(lineOf({level: active.level.up, at: active.level.at}));
      break;
    case 'Enter': case ' ': choose(active); break;
    default: return;
  }
  event.preventDefault();
  event.stopPropagation();
}

function click(event) {
  const row = event.target.closest('li');
  if (!row) return;
  const line = shownLines()[0] + [...list.children].indexOf(row);
  if ((event.ctrlKey || event.metaKey) && event.target.dataset.href) {
    open(event.target.dataset.href, '_blank', 'noopener');
    return;
  }
  move(line);
  if (event.target.closest('a[data-name]')) choose(active);
  else if (active.level.open.has(active.at)) fold(active);
  else unfold(active);
}

// fresh asks for the rows in the window again. It rests four times as long as the answers took, so that a level of very
// many atoms keeps the server busy for a fifth of the time.
let looking = false, changed = false;
async function fresh() {
  changed = true;
  if (looking) return;
  looking = true;
  while (changed) {
    changed = false;
    const began = performance.now();
    await missing(true);
    const took = performance.now() - began;
    await new Promise(done => setTimeout(done, 4 * took));
  }
  looking = false;
}

if (box) {
  take(top, [...list.children], Number(box.dataset.total));
  box.classList.add('windowed');
  list.setAttribute('role', 'tree');
  list.tabIndex = 0;
  box.scrollTop = 0;
  paint();
  box.scrollTop = Number(box.dataset.from) * high;
  paint();
  box.addEventListener('scroll', scrolled, {passive: true});
  addEventListener('resize', scrolled);
  box.addEventListener('ebb-fresh', fresh);
  list.addEventListener('keydown', key);
  list.addEventListener('click', click);
  list.addEventListener('focus', () => {
    active ??= place(top, Math.floor(box.scrollTop / high));
    paint();
  });
  restore();
}
