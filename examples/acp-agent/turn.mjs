import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Takes the steps of one prompt, telling the client of each; a cancelled turn ends between two of them. */
export async function takeTurn(steps, { client, sessionId, session }) {
  const { signal } = session.cancel;
  const update = (fields) => client.notify('session/update', { sessionId, update: fields });
  const say = async (text) => {
    const messageId = randomUUID();
    for (const piece of text.match(/.{1,8}/gs) ?? []) {
      await update({ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text: piece } });
    }
  };
  const actions = {
    say,
    recall: () => say(`I was told ${session.prompts.length} times: ${session.prompts.join(' / ')}`),
    wait: (milliseconds) => delay(Number(milliseconds), undefined, { signal }).catch(() => undefined),
    write: (rest) => write(rest, session.cwd, update),
    ask: (title) => ask(title, { client, sessionId, say }),
  };
  for (const { verb, rest } of steps) {
    if (signal.aborted) return 'cancelled';
    await actions[verb](rest);
  }
  return signal.aborted ? 'cancelled' : 'end_turn';
}

/** `write <path>: <text>`: a file of the working directory, and nowhere else. */
async function write(rest, cwd, update) {
  const [, name = '', text = ''] = /^([^:]+):\s*(.*)$/.exec(rest) ?? [];
  const path = resolve(cwd, name.trim());
  if (relative(cwd, path).startsWith('..')) throw new Error(`${name} is outside the working directory`);
  const toolCallId = randomUUID();
  await update({
    sessionUpdate: 'tool_call',
    toolCallId,
    title: `write ${name}`,
    kind: 'edit',
    status: 'in_progress',
    locations: [{ path }],
  });
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${text}\n`);
  await update({
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: 'completed',
    content: [{ type: 'diff', path, newText: `${text}\n` }],
  });
}

/** `ask <title>`: asks for a permission and says what the answer was. */
async function ask(title, { client, sessionId, say }) {
  const { outcome } = await client.request('session/request_permission', {
    sessionId,
    toolCall: { toolCallId: randomUUID(), title, kind: 'execute', status: 'pending' },
    options: [
      { optionId: 'yes', name: 'Allow once', kind: 'allow_once' },
      { optionId: 'no', name: 'Reject', kind: 'reject_once' },
    ],
  });
  await say(outcome.outcome === 'selected' ? `The answer was ${outcome.optionId}.` : 'The question was cancelled.');
}
