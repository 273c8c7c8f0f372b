import sys
sys.path.insert(0,'/work/main/tests/e2e')
import debug_scopes_test as d, pathlib
img=pathlib.Path(sys.argv[1])
es=d.read_entries(img); ix={e.offset:e for e in es}
for e in es:
    if e.tag in d.CALL_SITES and 'call_origin' in e.attributes:
        t=ix.get(d.address(e.attributes['call_origin']))
        if t is None: continue
        r=t.ranges()
        if r is not None and (len(r)==0 or any(a>=b for a,b in r)): print(hex(e.offset), hex(t.offset), r, t.attributes)
