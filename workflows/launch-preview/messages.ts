/** A preview is asked for once and kept nowhere; the id only has to be new. */
export const launchPreviewId = (unique: string): string => `preview/${unique}`;
