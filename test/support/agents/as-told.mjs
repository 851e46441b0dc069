// Follows the description of its task, as JSON: {files: {path: text}, links: {path: target}, commit?, say?: [event], result?, stays?}. With
// `stays` it does not end by itself.
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

const { value: first } = await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
const script = JSON.parse(JSON.parse(first).envelope.objective.description);
for (const [path, text] of Object.entries(script.files ?? {})) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
for (const [path, target] of Object.entries(script.links ?? {})) {
  symlinkSync(target, path);
}
if (script.commit) {
  const git = (...args) => execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@localhost', ...args]);
  git('add', '-A');
  git('commit', '--quiet', '-m', script.commit);
}
const lines = [...(script.say ?? []), ...(script.result ? [{ type: 'result', ...script.result }] : [])];
process.stdout.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), () =>
  script.stays ? setInterval(() => undefined, 60_000) : process.exit(script.exit ?? 0),
);
