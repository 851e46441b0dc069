import { createHmac, randomUUID } from 'node:crypto';

/** The headers that GitHub sends with a body that it signs with this secret. */
export const githubDelivery = (text: string, secret: string, id: string = randomUUID()) => ({
  'X-Hub-Signature-256': `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`,
  'X-GitHub-Delivery': id,
});

/** The headers that GitLab sends, which has no signature. */
export const gitlabDelivery = (secret: string, id: string = randomUUID()) => ({
  'X-Gitlab-Token': secret,
  'X-Gitlab-Event-UUID': id,
});
