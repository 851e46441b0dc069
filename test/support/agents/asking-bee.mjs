// Requests the permissions in its argument (a JSON list of approval lines), and does what was allowed; reports the responses.
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const questions = JSON.parse(process.argv[2]);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
await lines.next();
for (const question of questions) {
  say({ type: 'approval', ...question });
}
const answers = [];
while (answers.length < questions.length) {
  const { value, done } = await lines.next();
  if (done) {
    break;
  }
  const line = JSON.parse(value);
  if (line.type === 'approval') {
    answers.push(line);
  }
}
for (const { id, decision } of answers) {
  if (decision === 'approved') {
    writeFileSync(`${id}.txt`, 'allowed\n');
  }
}
const decisions = answers.map(
  ({ id, decision, note, response }) =>
    `${id}=${decision}${note ? ` (${note})` : ''}${response ? ` ${Object.keys(response).join()}` : ''}`,
);
say({ type: 'result', status: 'success', summary: decisions.sort().join('; ') });
process.exit(0);
