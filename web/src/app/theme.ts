import { createStore } from '../ui/store';

export type Theme = 'system' | 'light' | 'dark';

const name = 'runboard.theme';
const stored = localStorage.getItem(name);

export const theme = createStore<Theme>(stored === 'light' || stored === 'dark' ? stored : 'system');

function show(): void {
  const chosen = theme.get();
  if (chosen === 'system') {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem(name);
  } else {
    document.documentElement.dataset.theme = chosen;
    localStorage.setItem(name, chosen);
  }
}

show();
theme.subscribe(show);
