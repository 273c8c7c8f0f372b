void* formed(void);
int main(void) { return formed() != (void*)main; }
