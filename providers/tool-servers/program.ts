import { randomUUID } from 'node:crypto';
import { chmod, chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createRedactor } from '../../platform/log/redact';
import { findCommand } from '../../platform/processes/find-command';
import { findByEnvironment, findGroup } from '../../platform/processes/identity';
import { endProcess } from '../../platform/processes/kill-process-group';
import { makeScratchDirectory } from '../../platform/processes/scratch';
import type { AgentHost } from '../agents/local/agent-environment';
import { LastWords } from '../agents/local/last-output';
import { pump } from '../agents/local/pump';
import { spawnAgent, type SpawnedAgent } from '../agents/local/spawn-agent';
import type { AgentUser } from '../agents/user/agent-user';
import { ToolServerError } from './tool-server';

/** The variable that marks every process of a tool server. */
export const toolServerVariable = 'BOARD_TOOL_SERVER_ID';

/** How long a server may take to end by itself, in milliseconds. */
const graceMs = 1_000;
/** A server that starts processes while it is ended is not chased for ever. */
const rounds = 20;

export interface ProgramRequest {
  displayName: string;
  command: string;
  args: readonly string[];
  variables: Record<string, string>;
  secrets: readonly string[];
}

/** A tool server that is a program of this host. */
export interface ServerProgram {
  spawned: SpawnedAgent;
  /** What it wrote last to standard error, without secrets. */
  lastWords: () => string;
  /** Ends it with everything it started, and removes its directory. May be called more than once. */
  end: () => Promise<void>;
}

/**
 * Starts the program of a tool server without a shell: as the user of agents, in a session and an empty directory of its own. It
 * ends with this process, however this process ends.
 *
 * @throws ToolServerError
 */
export async function startProgram(request: ProgramRequest, { user }: AgentHost): Promise<ServerProgram> {
  const { displayName, command, args, variables, secrets } = request;
  const found = findCommand(command, variables.PATH ?? '');
  if ('problem' in found) {
    throw new ToolServerError({
      code: 'program-missing',
      message: `The tool server ${displayName} has no program: ${found.problem}`,
      remedy: 'Install the program on the host, or correct the command of the definition.',
    });
  }
  const scratch = await makeScratchDirectory('tool-server');
  const id = randomUUID();
  try {
    const cwd = await ownDirectory(scratch.path, user);
    const env = { ...variables, [toolServerVariable]: id };
    const spawned = await spawnAgent({
      path: found.path,
      args,
      cwd,
      env,
      marker: toolServerVariable,
      user,
    });
    return running(spawned, { id, secrets, removeScratch: scratch.remove });
  } catch (error) {
    await scratch.remove();
    const reason = createRedactor(secrets)(error instanceof Error ? error.message : String(error));
    throw new ToolServerError({
      code: 'start-failed',
      message: `The tool server ${displayName} could not be started: ${reason}`,
      remedy: 'Start its command on the host as the user of its agents, and read what it prints.',
    });
  }
}

/** An empty directory that the program may use; the one around it stays ours, so that it is removed after a kill too. */
async function ownDirectory(scratch: string, user: AgentUser | undefined): Promise<string> {
  const directory = join(scratch, 'work');
  await mkdir(directory, { mode: 0o700 });
  if (user) {
    await chmod(scratch, 0o711);
    await chown(directory, user.uid, user.gid);
  }
  return directory;
}

interface Running {
  id: string;
  secrets: readonly string[];
  removeScratch: () => Promise<void>;
}

function running(spawned: SpawnedAgent, { id, secrets, removeScratch }: Running): ServerProgram {
  const words = new LastWords();
  const redact = createRedactor(secrets);
  const ended = new AbortController();
  void spawned.exited.catch(() => undefined).finally(() => ended.abort());
  const reading = pump(
    spawned.stderr,
    ({ content }) => {
      words.add(redact(content.toString('utf8')));
      return undefined;
    },
    { ended: ended.signal },
  );
  reading.catch(() => undefined);

  let ending: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    spawned.stdin.end();
    await endMarked(id, spawned);
    spawned.release();
    await removeScratch();
  };
  return {
    spawned,
    lastWords: () => words.text,
    end: () => (ending ??= end()),
  };
}

/** Ends the group of the program, and whatever carries its mark outside of it. */
async function endMarked(id: string, { identity }: SpawnedAgent): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const marked = await findByEnvironment(toolServerVariable, id);
    const group = await findGroup(identity.pid);
    const left = round === 0 ? [identity, ...group, ...marked] : [...group, ...marked];
    if (round > 0 && left.length === 0) {
      return;
    }
    await endProcess(left, { graceMs: round === 0 ? graceMs : 0 });
  }
}
