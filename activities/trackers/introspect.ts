import type { Refusal } from '../../contracts/refusal';
import { trackerAction } from '../../domain/trackers/audit';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { TrackerStore } from '../../stores/integrations/trackers/tracker-store';
import type { AuditStore } from '../../stores/system/audit-store';
import type { TrackerIntrospectionInput } from '../../workflows/tracker-introspection/messages';
import { callTracker } from '../shared/forge-refusals';
import type { Trackers } from './open-trackers';

export interface IntrospectionDependencies {
  openTrackers: Pick<Trackers, 'open' | 'allowPrivate'>;
  trackers: Pick<TrackerStore, 'recordSchema' | 'connections'>;
  audit: Pick<AuditStore, 'record'>;
  now: () => Date;
}

export function createIntrospectionActivities({ openTrackers, trackers, audit, now }: IntrospectionDependencies) {
  return {
    /** Reads what a project of a tracker has, and stores it. Changes nothing there. */
    async introspectTracker(input: TrackerIntrospectionInput): Promise<{ refused: Refusal | null }> {
      const { provider, project, requestId, actor } = input;
      const opened = await openTrackers.open(provider, project);
      const read =
        'status' in opened ? opened : await withHeartbeat(() => callTracker(() => opened.tracker.introspect()));
      if (!('status' in read) && !('status' in opened)) {
        const { connection, baseUrl } = opened;
        const { login, ...schema } = read.value;
        const { credential } = connection;
        const posture = { baseUrl, credential, account: login, privateAllowed: openTrackers.allowPrivate };
        await trackers.recordSchema({ ...schema, provider, project, posture, introspectedAt: now().toISOString() });
      }
      const refused = 'status' in read ? read : null;
      await audit.record({
        action: trackerAction,
        actor,
        resource: project,
        details: { operation: 'introspect', provider, project, outcome: refused?.code ?? 'done' },
        once: requestId,
      });
      return { refused };
    },
  };
}

export type IntrospectionActivities = ReturnType<typeof createIntrospectionActivities>;
