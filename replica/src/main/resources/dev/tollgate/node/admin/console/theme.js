/** The switch of colors: as the system has them, light, or dark. The choice is remembered by the browser. */
const KEY = 'tollgate-theme';

function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // the browser forbids it
  }
}

function apply(theme) {
  if (theme === 'light' || theme === 'dark') {
    document.documentElement.dataset.theme = theme;
  } else {
    delete document.documentElement.dataset.theme;
  }
}

export function startTheme() {
  const chosen = remembered() ?? 'auto';
  apply(chosen);
  for (const choice of document.querySelectorAll('input[name=theme]')) {
    choice.checked = choice.value === chosen;
    choice.addEventListener('change', () => {
      apply(choice.value);
      try {
        localStorage.setItem(KEY, choice.value);
      } catch {
        // it holds until the page is closed
      }
    });
  }
}
