// refusing.dll: does not want to be loaded.
int DllMain(void* library, int reason, void* reserved) {
  (void)library;
  (void)reserved;
  return reason != 1;
}
