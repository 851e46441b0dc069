import { persistently } from '../../support/processes/persistently';
import type { Service } from '../../support/stack/service';
import { tokenOf } from './service-under-test';

/** Calls the workflow-run service in the name of `ann` until it answers, whatever is killed meanwhile: a body is sent by POST. */
export const persistentCalls =
  <T>({ serviceUrls }: Pick<Service, 'serviceUrls'>) =>
  (path: string, body?: unknown): Promise<T> =>
    persistently(async () => {
      const response = await fetch(new URL(path, serviceUrls['workflow-runs']), {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${tokenOf('ann')}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      // What may not have been done is sent again.
      expect(response.status).toBeLessThan(500);
      const text = await response.text();
      return (text === '' ? {} : JSON.parse(text)) as T;
    });
