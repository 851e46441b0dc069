#!/usr/bin/env node
// An agent that speaks the Agent Client Protocol and follows a script instead of a model: see README.md.
import { randomUUID } from 'node:crypto';
import { Readable, Writable } from 'node:stream';
import { parseArgs } from 'node:util';
// Forks and archives of sessions are not part of the stable protocol yet.
import { agent, ndJsonStream, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk/unstable';
import { readScript } from './script.mjs';
import { SessionFiles } from './session-files.mjs';
import { takeTurn } from './turn.mjs';

const { values } = parseArgs({ options: { state: { type: 'string' }, 'client-tools': { type: 'boolean' } } });
/** Whether files are written by way of the client, and by nothing else. */
const clientTools = values['client-tools'] === true;
const files = new SessionFiles(values.state);
/** Open sessions, and what cancels the turn that goes on in them. */
const sessions = new Map();

const sessionOf = (sessionId) => {
  const session = sessions.get(sessionId);
  if (!session) {
    throw RequestError.sessionNotFound(sessionId);
  }
  return session;
};

/** Puts a session into the archive or takes it out. */
async function mark(sessionId, archived) {
  const known = await files.load(sessionId);
  if (!known) {
    throw RequestError.sessionNotFound(sessionId);
  }
  await files.save(sessionId, { ...known, archived });
}

agent({ name: 'example-acp-agent' })
  .onRequest('initialize', () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: 'example-acp-agent', version: '1.0.0' },
    agentCapabilities: {
      loadSession: true,
      sessionCapabilities: { list: {}, close: {}, fork: {}, archive: {} },
      ...(clientTools ? { _meta: { 'runboard/tools': 'client' } } : {}),
    },
  }))
  .onRequest('session/new', async ({ params }) => {
    const sessionId = randomUUID();
    sessions.set(sessionId, { cwd: params.cwd, prompts: [], cancel: undefined });
    await files.save(sessionId, sessions.get(sessionId));
    return { sessionId };
  })
  .onRequest('session/load', async ({ params, client }) => {
    const { sessionId, cwd } = params;
    const known = await files.load(sessionId);
    if (!known || known.archived) {
      throw RequestError.sessionNotFound(sessionId);
    }
    sessions.set(sessionId, { cwd, prompts: known.prompts, cancel: undefined });
    for (const text of known.prompts) {
      await client.notify('session/update', {
        sessionId,
        update: { sessionUpdate: 'user_message_chunk', content: { type: 'text', text } },
      });
    }
    return {};
  })
  .onRequest('session/fork', async ({ params }) => {
    const source = await files.load(params.sessionId);
    if (!source) {
      throw RequestError.sessionNotFound(params.sessionId);
    }
    const sessionId = randomUUID();
    sessions.set(sessionId, { cwd: params.cwd, prompts: source.prompts, cancel: undefined });
    await files.save(sessionId, sessions.get(sessionId));
    return { sessionId };
  })
  .onRequest('session/list', async () => ({ sessions: await files.list() }))
  .onRequest('session/archive', async ({ params }) => {
    sessions.delete(params.sessionId);
    await mark(params.sessionId, true);
    return {};
  })
  .onRequest('session/unarchive', async ({ params }) => {
    await mark(params.sessionId, false);
    return {};
  })
  .onRequest('session/prompt', async ({ params, client }) => {
    const { sessionId } = params;
    const session = sessionOf(sessionId);
    const text = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    // Before anything is waited for: the turn may be cancelled as soon as it has begun.
    session.cancel = new AbortController();
    try {
      session.prompts.push(text);
      await files.save(sessionId, session);
      return { stopReason: await takeTurn(readScript(text), { client, sessionId, session, clientTools }) };
    } finally {
      session.cancel = undefined;
    }
  })
  .onNotification('session/cancel', ({ params }) => sessions.get(params.sessionId)?.cancel?.abort())
  .onRequest('session/close', async ({ params }) => {
    sessionOf(params.sessionId);
    sessions.delete(params.sessionId);
    await files.remove(params.sessionId);
    return {};
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
  .closed.finally(() => process.exit(0));
