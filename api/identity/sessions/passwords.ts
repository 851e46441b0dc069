import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { minPasswordLength } from '../../../contracts/identity/session';
import { hashPassword, isPassword } from '../../../platform/crypto/password-hash';
import { AppError, conflict } from '../../../platform/errors/app-error';
import type { HttpContext } from '../../../platform/http/context';
import { callerAddressBehind } from '../../../platform/http/limits/caller-address';
import { addressKey } from '../../../platform/http/limits/rate-limit';
import type { PasswordRecord } from '../../../stores/identity/sessions/password-store';
import type { ApiContext } from '../../context';
import { tooMany } from './limits';

type PasswordContext = Pick<ApiContext, 'authFailures' | 'env' | 'guesses' | 'now' | 'passwords' | 'recordAudit'>;

/** What a caller guesses, and how its refusal is named. */
interface Guess {
  /** The account, and what of it is guessed. */
  of: string;
  isRight: () => Promise<boolean>;
  wrong: () => AppError;
}

const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex');

/** A recovery key, and what is stored of it. */
export function newRecoveryKey(): { recoveryKey: string; recoveryHash: string } {
  const recoveryKey = `rbr_${randomBytes(32).toString('base64url')}`;
  return { recoveryKey, recoveryHash: digestOf(recoveryKey) };
}

/** @throws AppError `MISSING_PASSWORD` 400 */
function assertPresent(password: string | undefined): asserts password is string {
  if (!password) {
    throw new AppError('MISSING_PASSWORD', { status: 400, message: 'A password is required.' });
  }
}

/** Hashes a password that is to be set. @throws AppError `MISSING_PASSWORD` 400, `PASSWORD_TOO_SHORT` 400 */
export async function hashOfNew(password: string | undefined): Promise<string> {
  assertPresent(password);
  if (Array.from(password).length < minPasswordLength) {
    const message = `A password has at least ${minPasswordLength} characters.`;
    throw new AppError('PASSWORD_TOO_SHORT', { status: 400, message, details: { minLength: minPasswordLength } });
  }
  return hashPassword(password);
}

/** Verifies passwords and recovery keys, and takes no guesses for a while from those who have made too many. */
export function createPasswordChecks(context: PasswordContext) {
  const { authFailures, env, guesses, now, passwords, recordAudit } = context;
  const addressOf = callerAddressBehind(env.BOARD_TRUSTED_PROXIES);

  /** @throws AppError 409 `NOT_SETUP` */
  async function passwordOf(userId: string): Promise<PasswordRecord> {
    const record = await passwords.get(userId);
    if (!record) {
      throw conflict('No password was set yet. Set it with the code in the log of the service.', {}, 'NOT_SETUP');
    }
    return record;
  }

  /** What guesses are counted under. */
  const guessKeys = (ctx: HttpContext, of: string): string[] => [
    `account:${of}`,
    `address:${of}:${addressKey(addressOf(ctx.req))}`,
  ];

  /** Takes one guess, and counts it by account and by address. @throws AppError 429, and the error of a wrong guess */
  async function assertGuess(ctx: HttpContext, { of, isRight, wrong }: Guess): Promise<void> {
    const keys = guessKeys(ctx, of);
    const lockedUntil = await guesses.begin(keys);
    if (lockedUntil !== undefined) {
      throw tooMany('Too many wrong attempts.', Date.parse(lockedUntil) - now().getTime(), { lockedUntil });
    }
    if (await isRight()) {
      await guesses.forget(keys);
      return;
    }
    authFailures.record(ctx.req, { via: 'http', presented: true });
    const locks = await Promise.all(keys.map((key) => guesses.lockedUntil(key)));
    const until = locks.find((lock) => lock !== undefined);
    if (until !== undefined) {
      const resource = addressKey(addressOf(ctx.req));
      await recordAudit({ action: 'auth.lock', actor: 'user:anonymous', resource, details: { of, until } });
    }
    throw wrong();
  }

  return {
    passwordOf,

    /** @throws AppError 400 `MISSING_PASSWORD`, 401 with the code of a wrong password, 409 `NOT_SETUP`, 429 */
    async assertPassword(
      ctx: HttpContext,
      userId: string,
      { password, code }: { password: string | undefined; code: 'INVALID_PASSWORD' | 'INVALID_CURRENT_PASSWORD' },
    ): Promise<PasswordRecord> {
      assertPresent(password);
      const record = await passwordOf(userId);
      await assertGuess(ctx, {
        of: `password:${userId}`,
        isRight: () => isPassword(record.passwordHash, password),
        wrong: () => new AppError(code, { status: 401, message: 'The password is wrong.' }),
      });
      return record;
    },

    /** @throws AppError 401 `INVALID_RECOVERY_KEY`, 409 `NOT_SETUP`, `NO_RECOVERY_KEY`, 429 */
    async assertRecoveryKey(ctx: HttpContext, userId: string, recoveryKey: string): Promise<PasswordRecord> {
      const record = await passwordOf(userId);
      await assertGuess(ctx, {
        of: `recovery:${userId}`,
        isRight: async () => timingSafeEqual(Buffer.from(digestOf(recoveryKey)), Buffer.from(record.recoveryHash)),
        wrong: () => new AppError('INVALID_RECOVERY_KEY', { status: 401, message: 'The recovery key is wrong.' }),
      });
      // The owner is here: whatever was guessed before, the new password is accepted at once.
      await guesses.forget(guessKeys(ctx, `password:${userId}`));
      return record;
    },
  };
}
