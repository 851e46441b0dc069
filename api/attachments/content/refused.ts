/** The file may not be attached; the message says why, for whoever sent it. */
export class FileRefused extends Error {
  override readonly name = 'FileRefused';
}
