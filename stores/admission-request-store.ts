import type { AdmissionRequest } from '../runs/admission/request';
import type { Database } from './collection';
import { DuplicateKeyError } from './errors';

/** What each attempt asked admission for: where its descendants find the tree they belong to. */
export async function createAdmissionRequestStore(db: Database) {
  const requests = await db.collection<AdmissionRequest & { _id: string }>({ name: 'admission-requests' });
  const get = async (attemptId: string): Promise<AdmissionRequest | undefined> => {
    const found = await requests.get(attemptId);
    if (!found) return undefined;
    // It becomes part of other documents, which have an id of their own.
    const { _id, ...request } = found;
    return request;
  };
  return {
    get,

    /** Writes the request once, and answers the one that stands. */
    async put(request: AdmissionRequest): Promise<AdmissionRequest> {
      try {
        await requests.insert({ _id: request.attemptId, ...request });
        return request;
      } catch (error) {
        if (!(error instanceof DuplicateKeyError)) throw error;
        return (await get(request.attemptId)) ?? request;
      }
    },
  };
}

export type AdmissionRequestStore = Awaited<ReturnType<typeof createAdmissionRequestStore>>;
