import { readFileSync } from 'node:fs';
import { createLineRedactor, createRedactor } from '../platform/log/redact';

/**
 * How fast lines of an agent's output are redacted: `node dist/bench/redaction.js`, in the root of the project. The lines are the texts of this project, as
 * an agent that reads files prints them, and the same in JSON.
 */
const files = ['package-lock.json', 'CHANGELOG.md', 'README.md', 'docs/use/http.md', 'docs/use/endpoints.md'];
const rounds = 9;

const texts = files.flatMap((file) => readFileSync(file, 'utf8').split('\n')).filter((line) => line !== '');
const lines = [...texts, ...texts.slice(0, 3_000).map((text, seq) => JSON.stringify({ type: 'message', text, seq }))];
const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);

function main(): void {
  const redact = createLineRedactor(createRedactor(['a-secret-value-0123', 'another-secret-456']));
  const times = Array.from({ length: rounds }, () => {
    const begun = process.cpuUsage();
    lines.forEach((line) => redact(line));
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1_000;
  }).toSorted((one, other) => one - other);
  const ms = times[Math.floor(rounds / 2)] ?? 0;
  console.log(`${lines.length} lines, ${(bytes / 1e6).toFixed(1)} MB, median of ${rounds} rounds, CPU time`);
  console.log(`${(bytes / 1e3 / ms).toFixed(1)} MB/s, ${((ms * 1_000) / lines.length).toFixed(2)} µs a line`);
}

main();
