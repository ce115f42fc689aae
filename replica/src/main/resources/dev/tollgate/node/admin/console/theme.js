/** The choice of colors: as the system has them, light, or dark. The browser remembers it. */
const KEY = 'tollgate-theme';

function remembered() {
  try {
    return localStorage.getItem(KEY) ?? 'auto';
  } catch {
    return 'auto'; // the browser forbids it
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
  const choice = document.getElementById('theme');
  const theme = remembered();
  apply(theme);
  choice.value = theme === 'light' || theme === 'dark' ? theme : 'auto';
  choice.addEventListener('change', () => {
    apply(choice.value);
    try {
      localStorage.setItem(KEY, choice.value);
    } catch {
      // the choice holds until the page is closed
    }
  });
}
