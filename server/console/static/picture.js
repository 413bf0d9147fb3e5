// Zooms a picture in the page. Without this script, a link loads the page with the picture in another size.
const sizes = () => document.querySelector('[data-zooms]')?.dataset.zooms.split(' ').map(Number) ?? [];

// size returns the present size of the picture in percent: the address has it, unless it is none or 100.
function size() {
  const asked = Number(new URL(location.href).searchParams.get('zoom'));
  return sizes().includes(asked) ? asked : 100;
}

// sized returns an address with a size.
function sized(address, percent) {
  const to = new URL(address, location.href);
  if (percent === 100) to.searchParams.delete('zoom'); else to.searchParams.set('zoom', percent);
  return to;
}

// zoom makes the picture larger or smaller by some steps. What is at a point of the window stays there; without a point,
// it is the middle of what is seen, and the page is not scrolled.
function zoom(steps, point) {
  const all = sizes(), now = size(), at = all.indexOf(now) + steps, percent = all[at];
  const frame = document.querySelector('.picture'), svg = frame?.querySelector('svg');
  if (!svg || percent === undefined) return;
  const before = svg.getBoundingClientRect(), shown = frame.getBoundingClientRect();
  const x = point?.x ?? shown.left + shown.width / 2, ratio = percent / now;
  const [, , width, height] = svg.getAttribute('viewBox').split(' ');
  svg.setAttribute('width', width * percent / 100);
  svg.setAttribute('height', height * percent / 100);
  frame.scrollLeft += (x - before.left) * (ratio - 1);
  if (point) scrollBy(0, (point.y - before.top) * (ratio - 1));
  history.replaceState(null, '', sized(location.href, percent));
  for (const link of document.querySelectorAll('main a[data-zoom]')) {
    const next = all[at + (link.dataset.zoom === '+' ? 1 : -1)];
    if (next === undefined) {
      link.removeAttribute('href');
      link.setAttribute('aria-disabled', 'true');
    } else {
      link.setAttribute('href', relative(sized(location.href, next)));
      link.removeAttribute('aria-disabled');
    }
  }
  document.querySelector('[data-percent]').textContent = percent + ' %';
  clearTimeout(linking);
  linking = setTimeout(links, 100, percent);
}

const relative = to => to.pathname.slice(to.pathname.lastIndexOf('/') + 1) + to.search;

// links makes the links within the page keep the size, as they would if the server had written them. There may be
// hundreds in the picture, so they wait until a row of steps has ended.
let linking = 0;
function links(percent) {
  const here = new URL(location.href);
  for (const link of document.querySelectorAll('main a[href]:not([data-zoom])')) {
    const to = new URL(link.getAttribute('href'), here);
    if (to.pathname === here.pathname && to.searchParams.get('id') === here.searchParams.get('id')) {
      link.setAttribute('href', relative(sized(to, percent)));
    }
  }
}

// A picture that is wider than the page begins with the chosen node in sight, or with its first one.
{
  const frame = document.querySelector('.picture');
  const node = frame?.querySelector('.node.selected') ?? frame?.querySelector('.node');
  if (node) {
    const box = node.getBoundingClientRect(), shown = frame.getBoundingClientRect();
    if (box.left < shown.left || box.right > shown.right) {
      frame.scrollLeft += (box.left + box.right - shown.left - shown.right) / 2;
    }
  }
}

addEventListener('click', event => {
  const link = event.target.closest?.('a[data-zoom]');
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  zoom(link.dataset.zoom === '+' ? 1 : -1);
});

// The wheel zooms with Ctrl, and two fingers on a pad come as that. A step is as far as a notch of a wheel.
const notch = 50;
let turned = 0;
addEventListener('wheel', event => {
  if (!event.ctrlKey || !event.target.closest?.('.picture')) return;
  event.preventDefault();
  turned += event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : event.deltaY * notch;
  const steps = Math.trunc(turned / notch);
  if (steps === 0) return;
  turned -= steps * notch;
  zoom(-Math.sign(steps), {x: event.clientX, y: event.clientY});
}, {passive: false});
