import type { AdmissionScope, Capacity } from '../../contracts/admission';
import { blockedBy, nothing, plus, type Policy, type Usage } from './capacity';
import type { Candidate } from './schedule';

/** From what is a launch's own to what it shares with most. */
const ownFirst: AdmissionScope[] = ['task', 'tree', 'root-task', 'workspace', 'host', 'provider', 'global'];
const width = ({ scope }: { scope: AdmissionScope }): number => ownFirst.indexOf(scope);
/** Whether all of a line are counted there. */
export const isShared = (scope: AdmissionScope): boolean => width({ scope }) > ownFirst.indexOf('root-task');

/** What is used, will be by those that go now, and is kept free. */
export class Room {
  private readonly planned: Record<string, Capacity | undefined>;
  private readonly keptFree = new Set<string>();

  constructor(usage: Usage) {
    this.planned = { ...usage };
  }

  blocking({ policies, requested }: Candidate): Policy[] {
    return blockedBy(policies, this.planned, requested);
  }

  count({ scopes, requested }: Candidate): void {
    for (const { key } of scopes) this.planned[key] = plus(this.planned[key] ?? nothing, requested);
  }

  /**
   * Keeps room free for an entry where it has none, and in whatever is narrower than that; so it comes by all it needs,
   * the narrow before the wide, and nobody gets in between. Room in the wide ones stays for others meanwhile: whoever
   * waits for a ceiling of its own workspace has no need of another run on the board yet. Those that wait in the widest
   * behind another one for which room is kept there have their turn after it.
   */
  keepFree({ scopes, requested }: Candidate, blocking: Policy[]): void {
    const widest = Math.max(...blocking.map(width));
    if (blocking.some((policy) => width(policy) === widest && this.keptFree.has(policy.key))) return;
    for (const { scope, key } of scopes) {
      if (width({ scope }) > widest) continue;
      this.planned[key] = plus(this.planned[key] ?? nothing, requested);
      this.keptFree.add(key);
    }
  }
}
