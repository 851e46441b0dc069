import { Worker } from 'node:worker_threads';
import { createExamine } from '../../../api/attachments/content/examine';
import { FileRefused } from '../../../api/attachments/content/refused';

const file = { path: '/nowhere', extension: 'txt', maxTextLength: 100 };
const thread = (code: string) => () =>
  new Worker(`const { parentPort } = require('node:worker_threads');${code}`, {
    eval: true,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 16 },
  });
const accepted = "parentPort.postMessage({ kind: 'accepted', mimeType: 'text/plain' });";
const forEver = 'for (;;);';
const allMemory = 'const all = []; for (;;) all.push(new Array(10_000).fill(0).map(String));';

it.each([
  ['takes for ever', forEver],
  ['takes all memory', allMemory],
  ['fails', 'throw new Error("a parser failed")'],
  ['says nothing', ''],
])('a file whose examination %s is refused', async (_case, code) => {
  const examine = createExamine({ withinMs: 500, startThread: thread(code) });
  await expect(examine(file)).rejects.toThrow(FileRefused);
});

it.each([
  ['takes for ever', forEver],
  ['takes all memory', allMemory],
  ['fails', 'setTimeout(() => { throw new Error("a parser failed") })'],
])('a file whose text %s has none', async (_case, code) => {
  const examine = createExamine({ withinMs: 500, startThread: thread(accepted + code) });
  expect(await examine(file)).toEqual({ mimeType: 'text/plain', text: undefined });
});

it('looks at so many files at a time', async () => {
  let now = 0;
  let most = 0;
  const examine = createExamine({
    threads: 2,
    startThread: () => {
      most = Math.max(most, (now += 1));
      return thread(accepted)().once('exit', () => (now -= 1));
    },
  });
  await Promise.all(Array.from({ length: 6 }, () => examine(file)));
  expect(most).toBe(2);
});
