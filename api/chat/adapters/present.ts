import { createHash } from 'node:crypto';
import type { Adapter, AdapterHealth } from '../../../contracts/chat/adapter';
import type { AdapterDelivery } from '../../../contracts/chat/adapter-delivery';
import { destinationUrl, redactedUrl } from '../../../domain/communication/destination';
import type { AdapterRecord } from '../../../stores/chat/adapter-store';
import type { Stores } from '../../../stores/open-stores';

/** An adapter as callers read it: without what is secret of it. */
export function presentAdapter(record: AdapterRecord): Adapter {
  if (record.kind === 'community') {
    return record;
  }
  const { webhookUrl, credential, ...fields } = record;
  return {
    ...fields,
    destinationUrl: destinationUrl(record),
    webhookUrlConfigured: webhookUrl !== undefined,
    hasCredential: credential !== undefined,
  };
}

/** How an adapter does, by its configuration, its last probe and its last deliveries. */
export async function healthOf(
  { adapters, adapterDeliveries }: Pick<Stores, 'adapters' | 'adapterDeliveries'>,
  record: AdapterRecord,
): Promise<AdapterHealth> {
  const { id, kind, enabled, revision } = record;
  const [stored, pendingDeliveries, delivered, failed] = await Promise.all([
    adapters.probeOf(id),
    adapterDeliveries.countPending(id),
    adapterDeliveries.lastOf(id, 'delivered'),
    adapterDeliveries.lastOf(id, 'failed'),
  ]);
  const probe = stored?.probe;
  const lastFailure = failureOf(failed);
  return {
    adapterId: id,
    kind,
    enabled,
    ...statusOf(record, stored?.revision === revision ? probe : undefined, {
      failed: lastFailure,
      deliveredAt: delivered?.deliveredAt,
    }),
    endpoints: endpointsOf(record),
    expectedCommunity: record.kind === 'community' ? record.expectedCommunity : null,
    observedCommunity: probe?.observedCommunity ?? null,
    publicKeyFingerprint: record.kind === 'community' ? fingerprintOf(record.publicKey) : null,
    probeRevision: stored?.revision ?? null,
    checkedAt: probe?.checkedAt ?? null,
    checks: probe?.checks ?? [],
    runtime: {
      pendingDeliveries,
      lastDeliveredAt: delivered?.deliveredAt ?? null,
      lastFailure,
      facets: probe?.facets ?? {},
    },
  };
}

type Status = Pick<AdapterHealth, 'status' | 'reasonCode'>;

function statusOf(
  record: AdapterRecord,
  probe: (Status & { checkedAt: string }) | undefined,
  last: { failed: AdapterHealth['runtime']['lastFailure']; deliveredAt: string | undefined },
): Status {
  if (!record.enabled) {
    return { status: 'disabled', reasonCode: 'disabled' };
  }
  if (record.kind !== 'community' && !record.webhookUrl) {
    return { status: 'unconfigured', reasonCode: 'no-webhook-url' };
  }
  if (!probe) {
    return { status: 'unknown', reasonCode: 'not-probed' };
  }
  const { failed, deliveredAt = '' } = last;
  if (probe.status === 'healthy' && failed && failed.at > deliveredAt && failed.at > probe.checkedAt) {
    return { status: 'degraded', reasonCode: failed.reasonCode };
  }
  return { status: probe.status, reasonCode: probe.reasonCode };
}

const failureOf = (delivery: AdapterDelivery | undefined): AdapterHealth['runtime']['lastFailure'] =>
  delivery
    ? {
        at: delivery.updatedAt,
        reasonCode: delivery.reasonCode ?? 'abandoned',
        message: delivery.error ?? 'No worker delivered it in time.',
      }
    : null;

function endpointsOf(record: AdapterRecord): AdapterHealth['endpoints'] {
  if (record.kind !== 'community') {
    return record.webhookUrlRedacted === null ? [] : [{ name: 'webhook', url: record.webhookUrlRedacted }];
  }
  const { relayHttpUrl, relayWebSocketUrl } = record;
  return [
    { name: 'relay-http', url: redactedUrl(relayHttpUrl) },
    ...(relayWebSocketUrl === null ? [] : [{ name: 'relay-websocket', url: redactedUrl(relayWebSocketUrl) }]),
  ];
}

const fingerprintOf = (publicKey: string): string =>
  `sha256:${createHash('sha256').update(Buffer.from(publicKey, 'hex')).digest('hex')}`;
