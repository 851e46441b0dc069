import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Takes the steps of one prompt, reporting each to the client; a cancelled turn ends between two of them. */
export async function takeTurn(steps, { client, sessionId, session, clientTools }) {
  const { signal } = session.cancel;
  const update = (fields) => client.notify('session/update', { sessionId, update: fields });
  const say = async (text) => {
    const messageId = randomUUID();
    for (const piece of text.match(/.{1,8}/gs) ?? []) {
      await update({ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text: piece } });
    }
  };
  const throughClient = (path, content) =>
    attempt(() => client.request('fs/write_text_file', { sessionId, path, content }));
  const readThrough = async (path) => {
    const { content } = await client.request('fs/read_text_file', { sessionId, path: resolve(session.cwd, path) });
    await say(`Read ${content.trim()}.`);
  };
  const run = async (line) => {
    const [command, ...args] = line.split(' ');
    const { terminalId } = await client.request('terminal/create', { sessionId, command, args, cwd: session.cwd });
    const terminal = { sessionId, terminalId };
    const { exitCode, signal: by } = await client.request('terminal/wait_for_exit', terminal);
    const { output } = await client.request('terminal/output', terminal);
    await client.request('terminal/release', terminal);
    await say(`Ran with ${exitCode ?? by}: ${output.trim()}.`);
  };
  /** States why a request was refused. */
  const attempt = async (work) => {
    try {
      await work();
      return true;
    } catch (error) {
      await say(`Refused: ${error.message}`);
      return false;
    }
  };
  const actions = {
    say,
    recall: () => say(`I was told ${session.prompts.length} times: ${session.prompts.join(' / ')}`),
    wait: (milliseconds) => delay(Number(milliseconds), undefined, { signal }).catch(() => undefined),
    write: (rest) => write(rest, { cwd: session.cwd, update, put: clientTools ? throughClient : writeHere }),
    ask: (rest) => ask(rest, { client, sessionId, say, cwd: session.cwd }),
    read: (path) => attempt(() => readThrough(path)),
    run: (line) => attempt(() => run(line)),
  };
  for (const { verb, rest } of steps) {
    if (signal.aborted) {
      return 'cancelled';
    }
    await actions[verb](rest);
  }
  return signal.aborted ? 'cancelled' : 'end_turn';
}

async function writeHere(path, content, cwd) {
  if (relative(cwd, path).startsWith('..')) {
    throw new Error(`${path} is outside the working directory`);
  }
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return true;
}

/** `write <path>: <text>`: a file of the working directory, and nowhere else. */
async function write(rest, { cwd, update, put }) {
  const [, name = '', text = ''] = /^([^:]+):\s*(.*)$/.exec(rest) ?? [];
  const path = resolve(cwd, name.trim());
  const toolCallId = randomUUID();
  await update({
    sessionUpdate: 'tool_call',
    toolCallId,
    title: `write ${name}`,
    kind: 'edit',
    status: 'in_progress',
    locations: [{ path }],
  });
  const worked = await put(path, `${text}\n`, cwd);
  await update({
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: worked ? 'completed' : 'failed',
    content: [{ type: 'diff', path, newText: `${text}\n` }],
  });
}

const kinds = new Set(['read', 'edit', 'delete', 'move', 'search', 'execute', 'fetch']);

/** `ask <title>`, `ask <kind> <path> <title>` or `ask fetch <url> <title>`: asks for a permission and reports the decision. */
async function ask(rest, { client, sessionId, say, cwd }) {
  const [kind, path, ...words] = rest.split(' ');
  const named = kinds.has(kind) && path !== undefined;
  const subject = kind === 'fetch' ? { rawInput: { url: path } } : { locations: [{ path: resolve(cwd, path ?? '') }] };
  const about = named ? { kind, title: words.join(' ') || rest, ...subject } : { kind: 'execute', title: rest };
  const { outcome } = await client.request('session/request_permission', {
    sessionId,
    toolCall: { toolCallId: randomUUID(), ...about, status: 'pending' },
    options: [
      { optionId: 'yes', name: 'Allow once', kind: 'allow_once' },
      { optionId: 'no', name: 'Reject', kind: 'reject_once' },
    ],
  });
  await say(outcome.outcome === 'selected' ? `The answer was ${outcome.optionId}.` : 'The question was cancelled.');
}
