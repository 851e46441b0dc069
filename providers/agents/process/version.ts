import { randomUUID } from 'node:crypto';
import { chown } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '../../../platform/errors/app-error';
import { createRedactor } from '../../../platform/log/redact';
import { findGroup } from '../../../platform/processes/identity';
import { endProcess } from '../../../platform/processes/kill-process-group';
import { withScratchDirectory } from '../../../platform/processes/scratch';
import { cut } from '../../../platform/text/cut';
import type { AgentEnvironment } from '../local/agent-environment';
import { probeVariable } from '../local/end-attempt';
import type { Line } from '../local/line-splitter';
import { pump } from '../local/pump';
import { spawnAgent, type SpawnedAgent } from '../local/spawn-agent';
import type { AgentUser } from '../user/agent-user';

/** The longest an agent may take to print its version, and to end when asked to, in milliseconds. */
const limits = { answerMs: 10_000, graceMs: 500 } as const;
/** The longest line that is read, in bytes, and what is stored of it. */
const longest = { line: 4_096, kept: 200 } as const;

/** The version an agent reports, or why it is not known. */
export type ReportedVersion = { version: string } | { problem: string };

/**
 * Asks an agent for its version: the first line it prints when it is started with the arguments for that. Not in a
 * worktree, with nothing on its standard input, and everything it started ends with it.
 */
export async function askVersion(
  path: string,
  args: readonly string[],
  { environment: { variables, secrets }, user }: { environment: AgentEnvironment; user?: AgentUser },
): Promise<ReportedVersion> {
  try {
    return await withScratchDirectory('agent-version', async (cwd) => {
      if (user) {
        await chown(cwd, user.uid, user.gid);
      }
      const env = { ...variables, [probeVariable]: randomUUID() };
      const line = await printedLine(await spawnAgent({ path, args, cwd, env, marker: probeVariable, user }));
      return line === undefined
        ? { problem: 'The agent reported no version.' }
        : { version: cut(createRedactor(secrets)(line), longest.kept) };
    });
  } catch (error) {
    return { problem: `The version of the agent could not be read: ${createRedactor(secrets)(errorMessage(error))}` };
  }
}

/** The first line that a process prints in time; afterwards it has ended, with everything that it started. */
async function printedLine(spawned: SpawnedAgent): Promise<string | undefined> {
  try {
    spawned.stdin.end();
    const answer = firstLine(spawned);
    // One that came too late is ignored.
    answer.catch(() => undefined);
    return await Promise.race([answer, delay(limits.answerMs, undefined, { ref: false })]);
  } finally {
    const { identity } = spawned;
    await endProcess([identity, ...(await findGroup(identity.pid))], { graceMs: limits.graceMs });
    spawned.release();
  }
}

/** The first line with anything on it, from the output or else from what is meant for people; `undefined` when there is none. */
async function firstLine({ stdout, stderr, exited }: SpawnedAgent): Promise<string | undefined> {
  const ended = new AbortController();
  void exited.finally(() => ended.abort());
  const [fromStdout, fromStderr] = await Promise.all(
    [stdout, stderr].map((stream) => firstLineOf(stream, ended.signal)),
  );
  return fromStdout ?? fromStderr;
}

async function firstLineOf(stream: SpawnedAgent['stdout'], ended: AbortSignal): Promise<string | undefined> {
  let first: string | undefined;
  const record = ({ content }: Line): undefined => {
    first ??= content.toString('utf8').trim() || undefined;
  };
  await pump(stream, record, { ended, longest: longest.line });
  return first;
}
