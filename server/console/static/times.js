
// Times as the reader chose: as the page says, local, in UTC, or relative. The browser remembers the choice.
const choice = document.querySelector('select[data-times]');

function timeText(at) {
  switch (choice.value) {
    case 'local': return new Date(at).toLocaleString(document.documentElement.lang);
    case 'utc': return at.replace('T', ' ').replace('Z', ' UTC');
    case 'relative': {
      const seconds = (new Date(at) - Date.now()) / 1000;
      const [unit, of] = [['day', 86400], ['hour', 3600], ['minute', 60]].find(u => Math.abs(seconds) >= u[1]) ?? ['second', 1];
      return new Intl.RelativeTimeFormat(document.documentElement.lang).format(Math.trunc(seconds / of), unit);
    }
    default: return null;
  }
}

// showTimes writes the times in a part of the page as the reader chose.
function showTimes(part) {
  for (const time of part.querySelectorAll('time[datetime]')) {
    time.dataset.written ??= time.textContent;
    time.textContent = timeText(time.getAttribute('datetime')) ?? time.dataset.written;
  }
}

if (choice) {
  const kept = localStorage.getItem('ebb times');
  if (kept && choice.querySelector(`option[value=${CSS.escape(kept)}]`)) choice.value = kept;
  choice.hidden = false;
  choice.addEventListener('change', () => {
    localStorage.setItem('ebb times', choice.value);
    showTimes(document);
  });
  showTimes(document);
}
