import { addressKey } from '../../../platform/http/limits/rate-limit';

/** How many watchers there may be. Only those count who presented a valid key. */
export interface WatcherLimits {
  maxWatchers: number;
  maxWatchersPerAddress: number;
}

/** Counts watchers in all and by address, for as long as each is connected. */
export class WatcherCount {
  private total = 0;
  private readonly byAddress = new Map<string, number>();

  constructor(private readonly limits: WatcherLimits) {}

  /** How many there are, and may be. */
  count(): { connections: number; limit: number } {
    return { connections: this.total, limit: this.limits.maxWatchers };
  }

  /**
   * Counts one more watcher.
   *
   * @returns how to take it off again, or, beyond a limit, which one
   */
  admit(remoteAddress: string | undefined): (() => void) | string {
    const { maxWatchers, maxWatchersPerAddress } = this.limits;
    const address = addressKey(remoteAddress);
    const before = this.byAddress.get(address) ?? 0;
    if (this.total >= maxWatchers) {
      return `at most ${maxWatchers} watchers`;
    }
    if (before >= maxWatchersPerAddress) {
      return `at most ${maxWatchersPerAddress} watchers of one address`;
    }
    this.total += 1;
    this.byAddress.set(address, before + 1);
    return () => {
      this.total -= 1;
      const left = (this.byAddress.get(address) ?? 1) - 1;
      if (left > 0) {
        this.byAddress.set(address, left);
      } else {
        this.byAddress.delete(address);
      }
    };
  }
}
