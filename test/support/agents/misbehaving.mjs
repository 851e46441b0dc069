// Ends or talks in the way its argument names.
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [how] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
await lines.next();

const ways = {
  'exits-1': () => process.stderr.write('Error: no such model\n', () => process.exit(1)),
  silent: () => process.exit(0),
  'works-silently': () => writeFileSync('made.txt', 'x'),
  garbage: () => {
    process.stdout.write(Buffer.from([0, 255, 254, 123, 34, 10, 0x1b, 91, 51, 49, 109]));
    process.stdout.write('{"type":"nonsense","__proto__":{"polluted":true}}\n{"type":42}\n[1]\nnull\n{broken\n');
    process.exitCode = 0;
  },
  flood: () => {
    const line = `${'x'.repeat(1023)}\n`;
    const chunk = Buffer.from(line.repeat(1024));
    let left = 100;
    const more = () => {
      while (left > 0) {
        left -= 1;
        if (!process.stdout.write(chunk)) {
          return process.stdout.once('drain', more);
        }
      }
    };
    more();
  },
  'never-ends': () => {
    process.on('SIGTERM', () => undefined);
    setInterval(() => undefined, 1_000);
  },
  'rate-limited': () => {
    if (process.argv[3]) {
      writeFileSync(process.argv[3], 'half of it');
    }
    const blockers = [{ code: 'rate-limit', summary: 'Come back later.' }];
    const result = { type: 'result', status: 'failed', summary: 'The model is busy.', blockers };
    process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
  },
  strays: async () => {
    const { execFileSync } = await import('node:child_process');
    const git = (...args) => execFileSync('git', ['-c', 'user.name=M', '-c', 'user.email=m@localhost', ...args]);
    const primary = String(git('worktree', 'list', '--porcelain'))
      .split('\n')[0]
      .slice('worktree '.length);
    writeFileSync(`${primary}/stray.txt`, 'x');
    git('-C', primary, 'branch', 'stray');
    git('-C', primary, 'worktree', 'add', '--quiet', '-b', 'hidden', `${primary}-hidden`);
    process.stdout.write('{"type":"result","status":"success","summary":"done"}\n', () => process.exit(0));
  },
  commits: async () => {
    const { execFileSync } = await import('node:child_process');
    writeFileSync('made.txt', 'x');
    const git = (...args) => execFileSync('git', ['-c', 'user.name=M', '-c', 'user.email=m@localhost', ...args]);
    git('add', '-A');
    git('commit', '--quiet', '-m', 'Forbidden');
    process.stdout.write('{"type":"result","status":"success","summary":"done"}\n', () => process.exit(0));
  },
};
await ways[how]();
if (['garbage', 'flood', 'works-silently'].includes(how)) {
  process.stdin.destroy();
}
