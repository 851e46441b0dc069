import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { hideOwnSecrets } from '../../../platform/log/own-secrets';
import type { Database, Stored } from '../../../stores/port/collection';
import { insertOrGet } from '../../../stores/port/insert';

interface WebhookKey extends Stored {
  /** 32 random bytes as base64url. */
  key: string;
}

/** What a webhook hands its call to: one visit of one node. */
export interface WebhookStage {
  runId: string;
  stageId: string;
}

const shape = /^([0-9A-HJKMNP-TV-Z]{26})\.([A-Za-z0-9_-]{1,700})\.([A-Za-z0-9_-]{43})$/;

/**
 * Tokens of webhooks, which follow from their stage and a key that only this service's stores have: no token is stored, and
 * one is of no use for another stage.
 */
export async function openWebhookTokens(db: Database) {
  const keys = await db.collection<WebhookKey>({ name: 'workflow-run-webhook-keys' });
  const fresh = { _id: 'webhooks', key: randomBytes(32).toString('base64url') };
  const { key } = (await keys.get(fresh._id)) ?? (await insertOrGet(keys, fresh));
  hideOwnSecrets([key]);
  const macOf = ({ runId, stageId }: WebhookStage): string =>
    createHmac('sha256', key).update(`runboard webhook v1\n${runId}\n${stageId}`).digest('base64url');

  return {
    of: (stage: WebhookStage): string =>
      `${stage.runId}.${Buffer.from(stage.stageId).toString('base64url')}.${macOf(stage)}`,

    /** The stage of a token; `undefined` for anything that this service has not made. */
    read(token: string): WebhookStage | undefined {
      const [, runId, encoded, mac] = shape.exec(token) ?? [];
      if (runId === undefined || encoded === undefined || mac === undefined) {
        return undefined;
      }
      const stage = { runId, stageId: Buffer.from(encoded, 'base64url').toString() };
      const expected = Buffer.from(macOf(stage));
      return timingSafeEqual(expected, Buffer.from(mac)) ? stage : undefined;
    },
  };
}

export type WebhookTokens = Awaited<ReturnType<typeof openWebhookTokens>>;

/** A path as logs have it: without the token of a webhook. */
export const withoutToken = (path: string): string => path.replace(/^(\/webhooks\/).+/s, '$1[token]');
