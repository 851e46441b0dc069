import type { RunEventInput } from '../../contracts/runs/event';
import { type Egress, egressEventName, type EgressVerdict } from '../../domain/sandbox/network';

/** How many different destinations of a run are recorded by name; those after them are counted. */
const mostDestinations = 100;

export interface EgressCount {
  host: string;
  port: number;
  allowed: boolean;
  rule: string;
  count: number;
}

/** What left the sandbox of a run, and what was not let out. */
export interface EgressSummary {
  allowed: number;
  denied: number;
  destinations: EgressCount[];
}

/** Counts the egress of a run, and records the first of each kind. */
export class EgressLog {
  private readonly counts = new Map<string, EgressCount>();
  private readonly totals = { allowed: 0, denied: 0 };

  constructor(private readonly emit: (event: RunEventInput) => void) {}

  record({ host, port }: Egress, { allowed, rule }: EgressVerdict): void {
    this.totals[allowed ? 'allowed' : 'denied'] += 1;
    const shown = host.slice(0, 255);
    const key = `${shown}\n${port}\n${rule}\n${allowed}`;
    const known = this.counts.get(key);
    if (known) {
      known.count += 1;
      return;
    }
    if (this.counts.size >= mostDestinations) {
      return;
    }
    this.counts.set(key, { host: shown, port, allowed, rule, count: 1 });
    const payload = {
      name: egressEventName,
      toolKind: 'fetch',
      status: allowed ? 'completed' : 'refused',
      host: shown,
      port,
      rule,
    };
    this.emit({ kind: 'tool.completed', payload });
  }

  summary(): EgressSummary {
    return { ...this.totals, destinations: [...this.counts.values()].map((count) => ({ ...count })) };
  }
}
