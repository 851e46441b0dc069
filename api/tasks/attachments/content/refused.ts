/** The file may not be attached; the message gives its sender the reason. */
export class FileRefused extends Error {
  override readonly name = 'FileRefused';
}
