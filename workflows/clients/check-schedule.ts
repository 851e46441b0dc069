import { validationError } from '../../platform/errors/app-error';

/**
 * Has a Schedule tried out whose times a caller has stated.
 *
 * @param path of these times in the request
 * @param tryOut returns when the Schedule would start next
 * @throws AppError 400 when Temporal cannot read the times or they never come
 */
export async function checkSchedule(path: string, tryOut: () => Promise<Date[]>): Promise<void> {
  let next: Date[];
  try {
    next = await tryOut();
  } catch (error) {
    // The client reports a refused argument with this, and with the server's message.
    if (!(error instanceof TypeError)) {
      throw error;
    }
    throw validationError([{ path, message: error.message }]);
  }
  if (next.length === 0) {
    throw validationError([{ path, message: 'never comes: there is no such time' }]);
  }
}
