import type { HttpContext } from '../context';
import { sendStored, StoredResponse } from '../limits/idempotency';
import type { ProfiledRequest } from '../reply-profile';
import { BytesResponse, RawJson, sendBytes, sendJson } from '../response';

type Present = Pick<ProfiledRequest, 'present'>;

/** Sends what a request has come to: nothing, bytes, a stored response or JSON, the last two in the shape of the profile. */
export async function sendResult(ctx: HttpContext, result: unknown, { present }: Present): Promise<void> {
  if (result === undefined) {
    return;
  }
  if (result instanceof BytesResponse) {
    sendBytes(ctx, result);
    return;
  }
  if (result instanceof StoredResponse) {
    sendStored(ctx, present ? await presentStored(result, present) : result);
    return;
  }
  if (!present) {
    sendJson(ctx, result);
    return;
  }
  sendJson(ctx, await present(result instanceof RawJson ? JSON.parse(result.bytes.toString()) : result));
}

/** Stored is the default shape, whichever one the first request was sent. */
async function presentStored(
  { record }: StoredResponse,
  present: Required<Present>['present'],
): Promise<StoredResponse> {
  if (record.body === undefined) {
    return new StoredResponse(record);
  }
  return new StoredResponse({ ...record, body: JSON.stringify(await present(JSON.parse(record.body))) });
}
