import { randomInt } from 'node:crypto';
import { localWorkspace } from '../../../contracts/common';
import type { Closer } from '../../../platform/processes/closers';
import type { ApiContext } from '../../context';
import { owner } from './routes.password';

const validMs = 86_400_000;
/** Without the letters and digits that are taken for each other. */
const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** Four groups of five: a hundred bits. */
const newCode = (): string =>
  Array.from({ length: 4 }, () => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('')).join(
    '-',
  );

/** Nothing of it goes on. */
const nothing: Closer = () => Promise.resolve();

type SetupContext = Pick<ApiContext, 'env' | 'log' | 'passwords' | 'setupCodes' | 'workspaceId'>;

/**
 * Writes a code to the log that the first password is set with, where authentication is on and there is no password yet. The
 * password is that of the installation: the workspaces besides `local` offer nothing.
 */
export async function offerSetup({ env, log, passwords, setupCodes, workspaceId }: SetupContext): Promise<Closer> {
  if (workspaceId !== localWorkspace || !env.BOARD_AUTH_ENABLED || (await passwords.get(owner))) {
    return nothing;
  }
  const code = newCode();
  await setupCodes.add(code, validMs);
  log.warn({ code }, 'no password is set: POST /api/auth/setup on this machine sets it with this code, within a day');
  return nothing;
}
