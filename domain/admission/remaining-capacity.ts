import type { AdmissionScope, Capacity } from '../../contracts/runs/admission';
import { blockedBy, type CapacityPolicy, nothing, plus, type Usage } from './capacity';
import type { Candidate } from './schedule';

/** From what is a launch's own to what it shares with most. */
const ownFirst: AdmissionScope[] = ['task', 'tree', 'root-task', 'workspace', 'host', 'provider', 'global'];
const width = ({ scope }: { scope: AdmissionScope }): number => ownFirst.indexOf(scope);
/** Whether all entries of a lane are counted there. */
export const isShared = (scope: AdmissionScope): boolean => width({ scope }) > ownFirst.indexOf('root-task');

/** What is used, will be by those dispatched now, and is reserved. */
export class RemainingCapacity {
  private readonly planned: Record<string, Capacity | undefined>;
  private readonly reservedKeys = new Set<string>();

  constructor(usage: Usage) {
    this.planned = { ...usage };
  }

  blocking({ policies, requested }: Candidate): CapacityPolicy[] {
    return blockedBy(policies, this.planned, requested);
  }

  /** Whether it blocks every launch, whatever that requests. */
  isExhausted({ scope, key, resource, limit }: CapacityPolicy): boolean {
    return scope === 'global' && resource === 'runs' && (this.planned[key]?.runs ?? 0) >= limit;
  }

  count({ scopes, requested }: Candidate): void {
    for (const { key } of scopes) {
      this.planned[key] = plus(this.planned[key] ?? nothing, requested);
    }
  }

  /**
   * Reserves capacity for an entry in the scopes where it lacks some, and in all narrower ones; so it obtains all it needs, the
   * narrow before the wide, and no other entry comes in between. Capacity in the wider scopes stays for others meanwhile: an
   * entry that waits for a ceiling of its own workspace has no need of another run on the board yet. Entries that wait in the
   * widest scope behind another one with a reservation there follow it.
   */
  reserve({ scopes, requested }: Candidate, blocking: CapacityPolicy[]): void {
    const widest = Math.max(...blocking.map(width));
    if (blocking.some((policy) => width(policy) === widest && this.reservedKeys.has(policy.key))) {
      return;
    }
    for (const { scope, key } of scopes) {
      if (width({ scope }) > widest) {
        continue;
      }
      this.planned[key] = plus(this.planned[key] ?? nothing, requested);
      this.reservedKeys.add(key);
    }
  }
}
