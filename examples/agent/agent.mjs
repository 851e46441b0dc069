#!/usr/bin/env node
/**
 * A small agent that really works, without a model: it completes the to-do list of its task by writing a module and its
 * test. It shows how to speak the process protocol; docs/use/runs/agents.md describes it.
 *
 * Options: --step-delay-ms N (or EXAMPLE_AGENT_STEP_DELAY_MS) waits between two steps, so that there is time to watch.
 */
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { write } from './catalogue.mjs';
import { listen, say } from './protocol.mjs';
import { runCommand } from './run-command.mjs';
import { openItems, tick } from './todo.mjs';

const { values } = parseArgs({ options: { 'step-delay-ms': { type: 'string' } } });
const stepDelayMs = Number(values['step-delay-ms'] ?? process.env.EXAMPLE_AGENT_STEP_DELAY_MS ?? 0);

const moduleFile = 'src/helpers.mjs';
const testFile = 'src/helpers.test.mjs';
const listFile = 'TODO.md';

const input = listen();
/** Everything between two steps goes through here: the place to stop. */
const pause = async () => {
  await delay(stepDelayMs, undefined, { signal: input.interrupted });
  input.interrupted.throwIfAborted();
};
const readText = (path) => readFile(path, 'utf8').catch(() => '');

/** The items of the worktree's TODO.md, and those of the task that are not on it. */
async function gatherItems(objective) {
  const list = await readText(listFile);
  const own = openItems(list).map((item) => ({ ...item, onList: true }));
  const texts = [
    objective.description,
    ...objective.subtasks.filter((s) => !s.completed).map((s) => `- [ ] ${s.title}`),
  ];
  const known = new Set(own.map((item) => item.raw));
  const asked = openItems(texts.join('\n')).filter((item) => !known.has(item.raw) && known.add(item.raw));
  return [...own, ...asked];
}

/** Appends one function to the module and its test. */
async function addFunction(item, { source, check }) {
  const existing = await readText(moduleFile);
  if (new RegExp(`export function ${item.name.replaceAll('$', '\\$')}\\(`).test(existing)) {
    return;
  }
  await writeFile(moduleFile, `${existing}${existing && '\n'}${source}\n`);
  const tests = await readText(testFile);
  const head = `import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport * as helpers from './helpers.mjs';\n`;
  const body = `\ntest('${item.name}', () => {\n  const { ${item.name} } = helpers;\n  ${check}\n});\n`;
  await writeFile(testFile, `${tests || head}${body}`);
}

async function work({ envelope }) {
  const items = await gatherItems(envelope.objective);
  const blockers = [];
  const written = [];
  say('progress', { message: `Found ${items.length} open item${items.length === 1 ? '' : 's'}`, percent: 0 });
  await mkdir('src', { recursive: true });

  for (const [index, item] of items.entries()) {
    await pause();
    const code = item.name && write(item);
    const percent = Math.round(((index + 1) / (items.length + 2)) * 100);
    if (!code) {
      blockers.push({ code: 'unknown-item', summary: `I do not know how to do this: ${item.raw}`.slice(0, 500) });
      say('progress', { message: `Left out: ${item.raw}`, percent });
      continue;
    }
    await addFunction(item, code);
    if (item.onList) {
      await writeFile(listFile, tick(await readText(listFile), item.line));
    }
    written.push(item.name);
    say('progress', { message: `Wrote ${item.name}`, percent });
    say('tokens', { model: 'catalogue', inputTokens: item.raw.length, outputTokens: code.source.length });
  }
  if (written.length === 0) {
    return { status: 'blocked', summary: 'There was nothing on the list that I can do.', blockers };
  }

  await pause();
  for (const path of [moduleFile, testFile]) {
    say('file', { path, status: 'modified' });
  }
  const tests = await runCommand(say, 'node --test', { command: process.execPath, args: ['--test', testFile] });
  const verification = [{ gateId: 'tests', status: tests.ok ? 'passed' : 'failed', evidenceIds: ['test-run'] }];
  const evidence = [{ id: 'test-run', kind: 'verification', summary: `node --test ${testFile}` }];
  if (!tests.ok) {
    return { status: 'failed', summary: 'The tests fail.', verification, evidence };
  }

  await pause();
  if (envelope.commitPolicy !== 'forbidden') {
    const sha = await commit(written);
    if (sha) {
      evidence.push({ id: 'commit', kind: 'commit', reference: sha });
    }
  }
  say('progress', { message: 'Done', percent: 100 });
  const status = blockers.length === 0 ? 'success' : 'partial';
  return { status, summary: `Wrote ${written.join(', ')} with tests.`, evidence, verification, blockers };
}

/** Commits what was written; answers the commit's name, or nothing when git refuses. */
async function commit(names) {
  const identity = ['-c', 'user.name=Example Agent', '-c', 'user.email=agent@example.invalid'];
  const paths = [moduleFile, testFile];
  if (
    await access(listFile).then(
      () => true,
      () => false,
    )
  ) {
    paths.push(listFile);
  }
  const git = (verb, args) => runCommand(say, `git ${verb}`, { command: 'git', args });
  const added = await git('add', ['add', '--', ...paths]);
  const message = `Add ${names.join(', ')}`;
  if (!added.ok || !(await git('commit', [...identity, 'commit', '-q', '-m', message])).ok) {
    return;
  }
  const head = await git('rev-parse', ['rev-parse', 'HEAD']);
  return head.output.trim();
}

try {
  say('result', await work(await input.task));
} catch (error) {
  if (!input.interrupted.aborted) {
    throw error;
  }
  say('result', { status: 'partial', summary: `I was ${input.interrupted.reason} before I was done.` });
} finally {
  input.close();
}
