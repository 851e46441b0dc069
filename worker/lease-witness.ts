/**
 * Judges whether a host whose leases have run out is gone, or only late. After an outage of all (the stores were away, every
 * worker was stopped, the machine slept) every lease has run out, and the host that is back first must not free what the others
 * have: only a witness of a whole lease, with the stores responding throughout, may call another host late.
 */
export function leaseWitness() {
  let since: number | undefined;
  let last: number | undefined;
  return {
    /** To be called in each round with responding stores: whether those rounds go back, unbroken, for a whole lease. */
    sawLeaseThrough(now: Date, leaseMs: number): boolean {
      const at = now.getTime();
      // A host renews three times a lease: after a shorter gap the leases of the others have not all run out with it.
      const unbroken = last !== undefined && at >= last && at - last < leaseMs / 2;
      if (since === undefined || !unbroken) {
        since = at;
      }
      last = at;
      return at - since >= leaseMs;
    },
  };
}
