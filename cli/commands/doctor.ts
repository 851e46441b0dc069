import { BoardError, unwrap } from '../../clients/typescript/src';
import { exitCodes, signInRemedy } from '../failures';
import { oneLine } from '../output/plain';
import { stateStyle } from '../output/style';
import type { Session } from '../session';
import type { AddCommands } from './command';

interface Finding {
  check: string;
  ok: boolean;
  message: string;
  remedy?: string;
}

const found = (check: string, message: string): Finding => ({ check, ok: true, message });
const missing = (check: string, message: string, remedy: string): Finding => ({ check, ok: false, message, remedy });

/** One part of the examination: what the board refuses is a finding as well, and keeps none of the others from being made. */
async function part(check: string, examine: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await examine();
  } catch (error) {
    if (error instanceof BoardError) {
      return [{ check, ok: false, message: oneLine(error.message, 200) }];
    }
    throw error;
  }
}

async function key({ board, signal }: Session): Promise<Finding> {
  const { authenticated, role } = await unwrap(board.GET('/api/auth/status', { signal }));
  if (authenticated) {
    return found('key', `is that of the role ${role ?? 'unknown'}`);
  }
  return missing('key', 'The board does not know you.', signInRemedy);
}

async function parts({ board, signal, url }: Session): Promise<Finding[]> {
  const health = await unwrap(board.GET('/api/system/health', { signal }));
  const why = `GET ${url}/api/health/deep says why, to administrators.`;
  return Object.entries(health.parts).map(([name, status]) =>
    status === 'ok' ? found(name, status) : missing(name, status, why),
  );
}

async function hosts({ board, signal }: Session): Promise<Finding[]> {
  const live = (await unwrap(board.GET('/api/agents/hosts', { signal }))).hosts;
  const remedy = 'Start a worker: npm run start:worker, or "runboard start" for everything.';
  return [
    live.length === 0
      ? missing('hosts', 'no live worker', remedy)
      : found('hosts', live.map(({ hostname }) => oneLine(hostname, 60)).join(', ')),
  ];
}

async function agents({ board, signal }: Session): Promise<Finding[]> {
  const configured = (await unwrap(board.GET('/api/config/agents', { signal }))).agents;
  const enabled = configured.filter((agent) => agent.enabled);
  const remedy = 'Add one: "runboard agents presets", then "runboard agents add <preset>".';
  return [
    enabled.length === 0
      ? missing('agents', 'none is configured', remedy)
      : found('agents', enabled.map(({ type }) => type).join(', ')),
  ];
}

async function examine(session: Session): Promise<Finding[]> {
  const known = await key(session);
  const board = found('board', `answers at ${session.url}`);
  if (!known.ok) {
    return [board, known];
  }
  const rest = await Promise.all([
    part('parts', () => parts(session)),
    part('hosts', () => hosts(session)),
    part('agents', () => agents(session)),
  ]);
  return [board, known, ...rest.flat()];
}

/** `runboard doctor`. */
export const addDoctorCommand: AddCommands = (program, run) => {
  program
    .command('doctor')
    .description('Check what a first run needs: the board, a key, its parts, a host and an agent')
    .action(
      run(async (session) => {
        const findings = await examine(session);
        const isWell = findings.every(({ ok }) => ok);
        session.print({ ok: isWell, findings }, () =>
          findings
            .map(({ check, ok, message, remedy }) => {
              const line = `${stateStyle(session.style, ok ? 'ok' : 'failed')}  ${check}: ${message}\n`;
              return remedy === undefined ? line : `${line}    ${remedy}\n`;
            })
            .join(''),
        );
        return isWell ? undefined : exitCodes.unavailable;
      }),
    );
};
