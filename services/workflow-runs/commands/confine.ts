import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { compact } from '../../../platform/json/compact';
import { findCommand } from '../../../platform/processes/find-command';
import type { CommandSandbox, OpenedSandbox, Program } from './command-sandbox';
import { directoryWithin } from './workspace';

/** Where programs are searched, in the sandbox as on the host. */
const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** A program cannot be started as it is demanded. */
export class NotStartedError extends Error {
  override readonly name = 'NotStartedError';
}

export interface ToConfine {
  argv: readonly string[];
  directory?: string | undefined;
  /** `''`: the first of the service. */
  preset: string;
  /** Variables that it has beside the usual ones. */
  environment?: Record<string, string> | undefined;
  /** The port that it serves. */
  serves?: number;
}

/** A program as it is started, in a sandbox that is closed after it. */
export interface Confined {
  program: Program;
  directory: string;
  environment: NodeJS.ProcessEnv;
  sandbox: OpenedSandbox;
}

/**
 * Opens the sandbox of a program of a workspace.
 *
 * @param workspace without links
 * @throws OutsideWorkspaceError; NotStartedError when there is no such program, or the host cannot confine it
 */
export async function confine(
  { argv, directory = '.', preset, environment, serves }: ToConfine,
  { sandbox, workspace }: { sandbox: CommandSandbox; workspace: string },
): Promise<Confined> {
  const at = await directoryWithin(workspace, directory);
  const chosen = preset === '' ? sandbox.presets[0] : preset;
  const [name = '', ...args] = argv;
  // A file of the workspace is named by a path, relative to where it is started.
  const isPath = name.includes('/') && !name.startsWith('/');
  const found = isPath ? { path: join(at, name) } : findCommand(name, searchPath);
  if ('problem' in found) {
    throw new NotStartedError(found.problem);
  }
  const problem = await sandbox.problem(chosen);
  if (problem !== undefined) {
    throw new NotStartedError(problem);
  }
  const id = `wf-${randomBytes(9).toString('hex')}`;
  const opened = await sandbox.open({ id, preset: chosen, workspace, ...compact({ serves }) });
  try {
    return {
      program: await opened.wrap({ path: found.path, args }),
      directory: at,
      environment: {
        ...environment,
        ...{ PATH: searchPath, HOME: workspace, LANG: 'C.UTF-8', PWD: at },
        ...opened.environment,
      },
      sandbox: opened,
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}
