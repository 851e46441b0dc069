import manifest from '../../package.json';
import { read } from './pages';

const active = read('.nvmrc').trim();

describe('the versions of Node', () => {
  it('are the active line in the image and in what people are asked to install', () => {
    const bases = [...read('Dockerfile').matchAll(/^FROM node:(\d+)/gm)].map(([, line]) => line);
    expect(new Set(bases)).toEqual(new Set([active]));
    for (const page of ['README.md', 'CONTRIBUTING.md', 'SECURITY.md']) {
      expect(read(page)).toContain(`Node ${active}`);
    }
  });

  it('begin with the lowest that the package accepts', () => {
    const lowest = manifest.engines.node.replace('>=', '');
    for (const page of ['README.md', 'CONTRIBUTING.md', 'SECURITY.md']) {
      expect(read(page)).toContain(`${lowest} or newer is supported`);
    }
  });
});

describe('the version of Runboard', () => {
  it('has an entry with a date in the changelog, and is the one that gets security fixes', () => {
    const [, newest = ''] = /^## (\d+\.\d+\.\d+) \(\d{4}-\d{2}-\d{2}\)$/m.exec(read('CHANGELOG.md')) ?? [];
    expect(manifest.version).toBe(newest);
    expect(read('SECURITY.md')).toContain(`| ${newest.replace(/\.\d+$/, '')} (current) |`);
  });
});
