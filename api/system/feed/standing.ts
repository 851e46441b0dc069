import { createHash } from 'node:crypto';
import { AppError } from '../../../platform/errors/app-error';
import type { AuthContext, Identify } from '../../../platform/http/auth/auth';
import type { CredentialRequest, PresentedCredential } from '../../../platform/http/auth/credentials';
import type { Log } from '../../../platform/log/log';
import { closeCodes, type FeedWatcher, type WatcherStanding } from './watcher';

/** How often it is verified that the callers of open connections may still watch, in milliseconds. */
const verifyEveryMs = 1_000;
/** Callers that are verified at a time. */
const verifiedAtOnce = 16;
/** How long that counts, in milliseconds: nothing is delivered to a caller that was verified longer ago. */
const freshForMs = 1_500;
/** Connections are closed whose callers could not be verified for so long, such as while the stores are away, in milliseconds. */
const unknownForMs = 15_000;

/** What a caller may do, by which a change of it is noticed. */
const rightsOf = ({ role, permissions, workspaceId, userId }: AuthContext): string =>
  JSON.stringify([role, permissions, workspaceId, userId]);

/** The open connections of one credential, and whether it is still what it was when they were opened. */
export class Standing implements WatcherStanding {
  private readonly watchers = new Set<FeedWatcher>();
  private verifiedAtMs: number;
  private verifying: Promise<void> | undefined;

  constructor(
    private readonly rights: string,
    private readonly options: {
      verify: () => Promise<AuthContext | undefined>;
      /** There is a connection. */
      onUsed: () => void;
      /** There is none any more. */
      onEmpty: () => void;
      nowMs: () => number;
      log: Log;
    },
  ) {
    this.verifiedAtMs = options.nowMs();
  }

  add(watcher: FeedWatcher): void {
    this.watchers.add(watcher);
    this.options.onUsed();
  }

  remove(watcher: FeedWatcher): void {
    this.watchers.delete(watcher);
    if (this.watchers.size === 0) {
      this.options.onEmpty();
    }
  }

  isFresh(): boolean {
    return this.options.nowMs() - this.verifiedAtMs < freshForMs;
  }

  refresh(): void {
    void this.verify();
  }

  /** Verifies the credential: its connections go on, or are closed. */
  verify(): Promise<void> {
    this.verifying ??= this.compare().finally(() => (this.verifying = undefined));
    return this.verifying;
  }

  private async compare(): Promise<void> {
    const startedAtMs = this.options.nowMs();
    try {
      const auth = await this.options.verify();
      if (!auth || rightsOf(auth) !== this.rights) {
        this.close(
          closeCodes.notAuthenticated,
          auth ? 'your rights have changed: connect again' : 'signed out or revoked',
        );
        return;
      }
      this.verifiedAtMs = startedAtMs;
      for (const watcher of this.watchers) {
        watcher.release();
      }
    } catch (err) {
      if (err instanceof AppError && err.status < 500) {
        this.close(closeCodes.notAuthenticated, 'the credential is not accepted any more');
        return;
      }
      this.options.log.warn({ err }, 'callers of open connections not verified');
      if (startedAtMs - this.verifiedAtMs > unknownForMs) {
        this.close(closeCodes.tryAgainLater, 'it is not known whether you may still watch');
      }
    }
  }

  private close(code: number, reason: string): void {
    for (const watcher of this.watchers) {
      watcher.expel(code, reason);
    }
  }
}

/** Verifies again and again that the callers of open connections may still watch: once for all connections of a credential. */
export class Standings {
  private readonly standings = new Map<string, Standing>();
  private readonly timer: NodeJS.Timeout;
  private passing = false;

  constructor(
    private readonly identify: Identify,
    private readonly log: Log,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.timer = setInterval(() => void this.pass(), verifyEveryMs).unref();
  }

  /** That of a caller with a credential that may be revoked; `undefined` for one whose rights do not change while this runs. */
  of(auth: AuthContext, credentials: readonly PresentedCredential[], request: CredentialRequest): Standing | undefined {
    if (auth.carrier === undefined) {
      return undefined;
    }
    const rights = rightsOf(auth);
    const key = createHash('sha256')
      .update(JSON.stringify([credentials, rights]))
      .digest('hex');
    const existing = this.standings.get(key);
    if (existing) {
      return existing;
    }
    // Verified from its first connection on: one that is refused has none.
    const standing: Standing = new Standing(rights, {
      verify: () => this.identify(credentials, request),
      onUsed: () => this.standings.set(key, standing),
      onEmpty: () => this.standings.delete(key),
      nowMs: this.nowMs,
      log: this.log,
    });
    return standing;
  }

  close(): void {
    clearInterval(this.timer);
  }

  /** Verifies a few at a time; a pass that takes longer than its time takes the place of the next one. */
  private async pass(): Promise<void> {
    if (this.passing) {
      return;
    }
    this.passing = true;
    try {
      const waiting = [...this.standings.values()];
      const verifyOthers = async (): Promise<void> => {
        for (let standing = waiting.pop(); standing; standing = waiting.pop()) {
          await standing.verify();
        }
      };
      await Promise.all(Array.from({ length: verifiedAtOnce }, verifyOthers));
    } finally {
      this.passing = false;
    }
  }
}
