export function RunView() {
  return null;
}
