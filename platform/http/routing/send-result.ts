import { compressResponse } from '../compress-response';
import type { HttpContext } from '../context';
import { sendStored, StoredResponse } from '../limits/idempotency';
import type { ProfiledRequest } from '../reply-profile';
import { BytesResponse, RawJson, sendBytes, sendJson } from '../response';

type Present = Pick<ProfiledRequest, 'present'>;

/** Sends what a request has come to: nothing, bytes, a stored response or JSON, the last two in the shape of the profile. */
export function sendResult(ctx: HttpContext, result: unknown, { present }: Present): Promise<void> | undefined {
  if (result === undefined) {
    return undefined;
  }
  if (present && !(result instanceof BytesResponse)) {
    return sendPresented(ctx, result, present);
  }
  if (result instanceof BytesResponse) {
    sendBytes(ctx, result);
  } else if (result instanceof StoredResponse) {
    sendStored(ctx, result);
  } else {
    sendJson(ctx, result);
    return compressResponse(ctx);
  }
  return undefined;
}

async function sendPresented(ctx: HttpContext, result: unknown, present: Required<Present>['present']): Promise<void> {
  if (result instanceof StoredResponse) {
    sendStored(ctx, await presentStored(result, present));
    return;
  }
  sendJson(
    ctx,
    await present(result instanceof RawJson ? (result.value ?? JSON.parse(result.bytes.toString())) : result),
  );
  await compressResponse(ctx);
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
