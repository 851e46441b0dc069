import type { Log } from '../../platform/log/log';
import type { Board } from '../../stores/board-files/board';
import type { DecisionPoint } from '../../stores/governance/decision-point';
import type { TrackerLinkStore } from '../../stores/integrations/trackers/tracker-link-store';
import type { TrackerStore } from '../../stores/integrations/trackers/tracker-store';
import type { AuditStore } from '../../stores/system/audit-store';
import type { Trackers } from './open-trackers';

export interface LinkDependencies {
  openTrackers: Pick<Trackers, 'open'>;
  trackers: Pick<TrackerStore, 'profiles' | 'schemaOf' | 'connections'>;
  trackerLinks: TrackerLinkStore;
  board: Pick<Board, 'create' | 'get' | 'update'>;
  rules: DecisionPoint;
  audit: Pick<AuditStore, 'record'>;
  log: Log;
  now: () => Date;
}
